/* seen_on.c -- the kernels that have shown a finding. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "finding/finding.h"
#include "finding/folder.h"
#include "target/description.h"
#include "target/kernels.h"

/* "Linux 6.12.5"; nothing for a target that needs no kernel. */
static void add_kernel_name(struct buf *out, const struct target *t)
{
	struct target_description d = { 0 };
	struct err none = { 0 };
	struct utsname running;

	if (!strcmp(t->kind->name, "kernel")) {
		if (!description_find(&d, t->name, NULL, &none)) {
			buf_adds(out, "Linux ");
			kernels_version(d.argument, out);
		}
		description_free(&d);
	} else if (!t->kind->in_process && !uname(&running)) {
		buf_addf(out, "%s %s", running.sysname, running.release);
	}
}

enum { FILE_BYTES_MAX = 64 << 20 };

/* Is the name one of a list "a; b; c"? */
static bool has_name(const char *list, const char *name)
{
	size_t len;

	for (; *list; list += len + strspn(list + len, "; ")) {
		len = strcspn(list, ";");
		if (len == strlen(name) && !strncmp(list, name, len))
			return true;
	}
	return false;
}

void folder_add_kernels(struct buf *out, const struct finding *f, const struct target *t)
{
	struct buf name = BUF_INIT;

	if (t)
		add_kernel_name(&name, t);
	buf_adds(out, buf_str(&f->seen_on));
	if (name.len && !has_name(buf_str(&f->seen_on), name.data))
		buf_addf(out, "%s%s", f->seen_on.len ? "; " : "", name.data);
	buf_free(&name);
}

/* A line that lists kernels: what comes before and behind them, and the lines, the last of which it
 * follows where there is none yet. */
struct kernel_line {
	const char *begin, *end;
	const char *follows[2];
};

static const struct kernel_line trace_line = {
	"# " HEADER_SEEN_ON ": ",
	"\n",
	{ "# " HEADER_SIGNATURE ": ", "# " HEADER_TARGET ": " },
};
static const struct kernel_line readme_line = {
	"- Seen on: `",
	"`\n",
	{ "- Kernel: ", "- File system: " },
};

/* Where a line begins with the words; NULL if none does. */
static const char *find_line(const char *text, const char *words)
{
	while (strncmp(text, words, strlen(words))) {
		text = strchr(text, '\n');
		if (!text)
			return NULL;
		text++;
	}
	return text;
}

static const char *behind_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

/* The text with the kernel among those that are listed; as it is where it is there already. */
static void add_to_line(const char *text, const struct kernel_line *row, const char *kernel,
			struct buf *out)
{
	const char *line = find_line(text, row->begin), *list, *before, *at;
	struct buf kernels = BUF_INIT;

	if (!line) {
		before = find_line(text, row->follows[0]);
		if (!before)
			before = find_line(text, row->follows[1]);
		at = before ? behind_line(before) : text;
		buf_add(out, text, (size_t)(at - text));
		buf_addf(out, "%s%s%s%s", row->begin, kernel, row->end, at);
		return;
	}
	list = line + strlen(row->begin);
	buf_add(&kernels, list, strcspn(list, row->end));
	at = list + kernels.len;
	buf_add(out, text, (size_t)(at - text));
	if (!has_name(buf_str(&kernels), kernel))
		buf_addf(out, "; %s", kernel);
	buf_adds(out, at);
	buf_free(&kernels);
}

static int record_in_file(const char *path, const struct kernel_line *row, const char *kernel,
			  struct err *err)
{
	struct buf text = BUF_INIT, changed = BUF_INIT;
	int r = buf_read_file(&text, path, FILE_BYTES_MAX, err);

	if (!r)
		add_to_line(buf_str(&text), row, kernel, &changed);
	if (!r && strcmp(buf_str(&text), buf_str(&changed)))
		r = buf_write_file(&changed, path, err);
	buf_free(&text);
	buf_free(&changed);
	return r;
}

int folder_record_kernel(const char *path, const char *kernel, struct err *err)
{
	char file[PATH_MAX];
	struct stat st;
	int r;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return record_in_file(path, &trace_line, kernel, err);
	snprintf(file, sizeof(file), "%s/" FOLDER_TRACE, path);
	r = record_in_file(file, &trace_line, kernel, err);
	snprintf(file, sizeof(file), "%s/README.md", path);
	return r || access(file, F_OK) ? r : record_in_file(file, &readme_line, kernel, err);
}
