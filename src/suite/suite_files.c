/* suite_files.c -- scripts of others: the *.trace files of a directory or of a tar archive.
 *
 * An archive is never unpacked into the file system: xz or gzip write it to memory, where its
 * headers and contents are read. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "suite/suite.h"
#include "suite/tar.h"

enum { SCRIPT_MAX = 1 << 20, ARCHIVE_MAX = 1 << 30, DEPTH_MAX = 64 };

static const char ending[] = ".trace";

struct text_file {
	char *name;
	const char *text; /* in the archive; NULL: to be read */
	size_t len;
};

struct file_list {
	struct text_file *items;
	size_t count, cap;
};

static struct file_list *walked; /* nftw has no other way to its caller */

static void file_list_add(struct file_list *list, const char *name, const char *text, size_t len)
{
	if (list->count == list->cap) {
		list->cap = list->cap ? 2 * list->cap : 256;
		list->items = must_realloc(list->items, list->cap * sizeof(*list->items));
	}
	list->items[list->count++] = (struct text_file){ must_strdup(name), text, len };
}

static bool is_script(const char *name)
{
	size_t len = strlen(name);

	return len > strlen(ending) && !strcmp(name + len - strlen(ending), ending);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct text_file *)a)->name, ((const struct text_file *)b)->name);
}

static int visit_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	if (type == FTW_F && is_script(path))
		file_list_add(walked, path, NULL, 0);
	return 0;
}

/* "folder/name" without the ending, and without the published scripts' "-int". */
static const char *short_name(const char *path, struct buf *out)
{
	const char *slash = strrchr(path, '/'), *from = slash;

	while (from && from > path && from[-1] != '/')
		from--;
	buf_clear(out);
	buf_adds(out, from ? from : path);
	out->len -= strlen(ending);
	if (out->len > 4 && !memcmp(out->data + out->len - 4, "-int", 4))
		out->len -= 4;
	out->data[out->len] = '\0';
	return out->data;
}

static int add_list(struct suite *s, const struct file_list *list, struct err *err)
{
	struct buf name = BUF_INIT, text = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; i < list->count && !ret; i++) {
		const struct text_file *file = &list->items[i];

		buf_clear(&text);
		if (file->text)
			buf_add(&text, file->text, file->len);
		else
			ret = buf_read_file(&text, file->name, SCRIPT_MAX, err);
		if (!ret)
			ret = suite_add_file(s, short_name(file->name, &name), buf_str(&text),
					     text.len, err);
	}
	buf_free(&name);
	buf_free(&text);
	return ret;
}

static void add_member(void *to, const char *name, const char *text, size_t len)
{
	if (is_script(name))
		file_list_add(to, name, text, len);
}

static bool is_compressed(const struct buf *file)
{
	return file->len && !tar_is_archive(file);
}

/* What a program makes of a file, in memory. */
static int decompress_archive(const char *program, const char *path, struct buf *ret,
			      struct err *err)
{
	int ends[2], status, r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		execlp(program, program, "-dc", path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	r = pid < 0 ? err_sys(err, errno, "cannot start %s", program)
		    : buf_read_fd(ret, ends[0], ARCHIVE_MAX, err);
	close(ends[0]);
	if (pid > 0 && (waitpid(pid, &status, 0) < 0 || status) && !r)
		r = err_set(err, EINVAL, "%s: %s cannot unpack it", path, program);
	return r;
}

static int read_archive(struct buf *archive, const char *path, struct err *err)
{
	int ret = buf_read_file(archive, path, ARCHIVE_MAX, err);
	const char *program = "xz";

	if (ret || !is_compressed(archive))
		return ret;
	if (!memcmp(archive->data, "\x1f\x8b", 2))
		program = "gzip";
	buf_clear(archive);
	return decompress_archive(program, path, archive, err);
}

int suite_add_path(struct suite *s, const char *path, struct err *err)
{
	struct file_list list = { 0 };
	struct buf archive = BUF_INIT;
	struct stat st;
	int ret = 0;

	if (stat(path, &st))
		return err_sys(err, errno, "%s", path);
	walked = &list;
	if (S_ISDIR(st.st_mode) ? nftw(path, visit_file, DEPTH_MAX, FTW_PHYS) : 0)
		ret = err_sys(err, errno, "%s", path);
	else if (!S_ISDIR(st.st_mode))
		ret = read_archive(&archive, path, err);
	tar_each(&archive, add_member, &list);
	if (!ret && !list.count)
		ret = err_set(err, ENOENT, "%s: there are no *%s files in it", path, ending);
	if (!ret) {
		qsort(list.items, list.count, sizeof(*list.items), by_name);
		ret = add_list(s, &list, err);
	}
	for (size_t i = 0; i < list.count; i++)
		free(list.items[i].name);
	free(list.items);
	buf_free(&archive);
	return ret;
}
