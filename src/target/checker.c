/* checker.c -- the program that checks a file system, e2fsck and the like, on a copy of its disk.
 */
#include "target/checker.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "storage/program.h"
#include "target/description.h"

enum {
	CHECKER_SECONDS = 20,
	REPORT_MAX = 64 << 10,
	COMPLAINT_MAX = 110, /* of what a signature has */
	WORDS_MIN = 2,       /* a line of fewer is a name, or the beginning of a sentence */
};

static void checker_free(struct checker *c)
{
	if (c->output_fd >= 0)
		close(c->output_fd);
	image_free(&c->image);
	c->output_fd = -1;
	c->pid = 0;
}

int checker_start(struct checker *c, const struct target_description *d, struct image *image,
		  struct err *err)
{
	struct program_value value = { "image", PROGRAM_FD_PATH };
	struct buf command = BUF_INIT;
	int ret = 0;

	*c = (struct checker){ .d = d, .image = *image };
	c->output_fd = memfd_create("assay-checker", MFD_CLOEXEC);
	program_fill(&command, d->fsck, &value, 1);
	if (c->output_fd >= 0)
		c->pid = program_start(command.data, c->image.fd, c->output_fd);
	if (c->output_fd < 0 || c->pid < 0) {
		ret = err_sys(err, errno, "cannot run %s", command.data);
		checker_free(c);
	}
	buf_free(&command);
	return ret;
}

bool checker_has_ended(const struct checker *c)
{
	return program_has_ended(c->pid);
}

/* Is the code among those of a list like "4 8"? */
static bool code_is_listed(const char *codes, int code)
{
	char *end;

	for (long listed; codes && *codes; codes = end) {
		listed = strtol(codes, &end, 10);
		if (end == codes)
			return false;
		if (listed == code)
			return true;
	}
	return false;
}

static enum verdict checker_verdict(const struct target_description *d, int status)
{
	if (code_is_listed(d->fsck_clean ? d->fsck_clean : "0", status))
		return VERDICT_OK;
	return code_is_listed(d->fsck_bad, status) ? VERDICT_BAD : VERDICT_UNKNOWN;
}

static void checker_read_output(const struct checker *c, struct buf *report)
{
	char chunk[4096];
	ssize_t n;

	for (off_t at = 0; at < REPORT_MAX; at += n) {
		n = pread(c->output_fd, chunk, sizeof(chunk), at);
		if (n <= 0)
			return;
		buf_add(report, chunk, (size_t)n);
	}
}

int checker_finish(struct checker *c, enum verdict *ret, struct buf *report,
		   double *ret_cpu_seconds, struct err *err)
{
	double cpu_seconds = 0;
	int status, r = program_await(c->pid, CHECKER_SECONDS, &status, &cpu_seconds, err);

	if (!r) {
		*ret = checker_verdict(c->d, status);
		checker_read_output(c, report);
	}
	if (ret_cpu_seconds)
		*ret_cpu_seconds = cpu_seconds;
	checker_free(c);
	return r;
}

/* ---- complaints ---- */

/* Of 'this', "this" or `this'. */
static size_t quoted_len(const char *at, const char *end)
{
	const char *close = memchr(at + 1, *at == '`' ? '\'' : *at, (size_t)(end - at - 1));

	return close ? (size_t)(close - at) + 1 : 0;
}

static bool begins_word(const char *line, const char *at)
{
	return at == line || isspace((unsigned char)at[-1]) || strchr("([<", at[-1]);
}

/* A number, also one of hexadecimal digits that begins with a digit, or a list of them. */
static size_t number_len(const char *at, const char *end)
{
	size_t len = 0;

	while (at + len < end && (isxdigit((unsigned char)at[len]) || strchr("x.", at[len])))
		len++;
	while (len && at[len - 1] == '.')
		len--;
	return len;
}

/* The line without names, paths and numbers, spaces as one. */
static void add_plain_line(const char *line, const char *end, struct buf *out)
{
	size_t len;

	for (const char *at = line; at < end; at += len) {
		len = 1;
		if (*at && strchr("'\"`", *at) && begins_word(line, at) &&
		    (len = quoted_len(at, end)) > 0) {
			buf_adds(out, "NAME");
		} else if (*at == '/' && begins_word(line, at)) {
			len = strcspn(at, " \t\n");
			buf_adds(out, "PATH");
		} else if (isdigit((unsigned char)*at)) {
			len = number_len(at, end);
			buf_addch(out, 'N');
		} else if (isspace((unsigned char)*at)) {
			len = 1;
			if (out->len && out->data[out->len - 1] != ' ')
				buf_addch(out, ' ');
		} else {
			len = 1;
			buf_addch(out, *at);
		}
	}
}

/* A list of blocks that differ: "-N", "+(N--N)". */
static bool is_list(const char *word, size_t len)
{
	return len && strspn(word, "N-+()") >= len &&
	       (memchr(word, '-', len) || memchr(word, '+', len));
}

/* Of "-N -(N--N) +N" one N is left. */
static void shorten_lists(struct buf *line)
{
	struct buf whole = *line;
	bool in_list = false;
	size_t len;

	*line = (struct buf)BUF_INIT;
	for (const char *word = buf_str(&whole); *word; word += len) {
		word += strspn(word, " ");
		len = strcspn(word, " ");
		if (in_list && is_list(word, len))
			continue;
		in_list = is_list(word, len);
		buf_adds(line, line->len && len ? " " : "");
		buf_add(line, in_list ? "N" : word, in_list ? 1 : len);
	}
	buf_free(&whole);
}

/* Without "Fix? no", what a checker asks and is not granted, and without spaces at the end. */
static void drop_question(struct buf *line)
{
	char *end = line->len ? strstr(line->data, "? ") : NULL;

	if (!end)
		end = line->data + line->len;
	else
		while (end > line->data && isalpha((unsigned char)end[-1]))
			end--;
	while (end > line->data && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	line->len = (size_t)(end - line->data);
}

static bool is_sentence(const char *line)
{
	unsigned words = 0;

	for (; *line; line += strcspn(line, " "), line += strspn(line, " "))
		words += isalpha((unsigned char)*line) || *line == 'N';
	return words >= WORDS_MIN;
}

/* Whether one of the lines of a report is this one. */
static bool report_has(const char *report, const struct buf *line)
{
	struct buf other = BUF_INIT;
	bool has = false;

	for (const char *at = report, *end; *at && !has; at = end + (*end != '\0')) {
		end = at + strcspn(at, "\n");
		buf_clear(&other);
		add_plain_line(at, end, &other);
		has = !strcmp(buf_str(&other), buf_str(line));
	}
	buf_free(&other);
	return has;
}

void checker_complaint(const char *report, const char *fresh, struct buf *out)
{
	struct buf line = BUF_INIT;
	size_t before = out->len;

	for (const char *at = report, *end; *at && out->len == before; at = end + (*end != '\0')) {
		end = at + strcspn(at, "\n");
		buf_clear(&line);
		add_plain_line(at, end, &line);
		if (!is_sentence(buf_str(&line)) || report_has(fresh, &line))
			continue;
		drop_question(&line);
		shorten_lists(&line);
		buf_add(out, buf_str(&line), line.len < COMPLAINT_MAX ? line.len : COMPLAINT_MAX);
	}
	buf_free(&line);
}
