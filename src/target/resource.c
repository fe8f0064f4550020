/* resource.c -- what a target uses of the user: a directory, a device, an image. */
#include "target/resource.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

enum {
	TRIES = 100, /* one who was killed has it until all that it started is gone */
	TRY_MS = 100,
	LOOK_BYTES = 4096, /* of a file, to see whether it is text */
};

/* A name of the kernel's that is no file and vanishes with its last holder. */
static socklen_t resource_name(const struct stat *st, struct sockaddr_un *ret)
{
	bool device = S_ISBLK(st->st_mode);
	int len;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	len = snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "assay-%s-%ju:%ju",
		       device ? "device" : "place", (uintmax_t)(device ? st->st_rdev : st->st_dev),
		       (uintmax_t)(device ? 0 : st->st_ino));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

int resource_lock(const char *path, int *ret_fd, struct err *err)
{
	const struct timespec moment = { .tv_nsec = TRY_MS * 1000000L };
	struct sockaddr_un name;
	struct stat st;
	socklen_t len;
	int fd, error = 0;

	if (stat(path, &st))
		return err_sys(err, errno, "%s", path);
	len = resource_name(&st, &name);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(err, errno, "cannot lock %s", path);
	for (int i = 0; i < TRIES; i++) {
		error = bind(fd, (struct sockaddr *)&name, len) ? errno : 0;
		if (error != EADDRINUSE)
			break;
		nanosleep(&moment, NULL);
	}
	if (!error) {
		*ret_fd = fd;
		return 0;
	}
	close(fd);
	if (error == EADDRINUSE)
		return err_set(err, EBUSY, "%s is in use by another run: one at a time", path);
	return err_sys(err, error, "cannot lock %s", path);
}

/* A word of a command as the shell would have it. */
struct command_word {
	size_t start, end; /* in the command */
	struct buf text;
	bool plain; /* means itself: nothing for the shell to do but quotes */
	bool quoted;
	bool expands; /* to what only the shell knows */
};

static void word_char(struct command_word *w, const char *command, size_t *at, char *quote)
{
	char c = command[*at];

	if (*quote && c == *quote) {
		*quote = 0;
	} else if (!*quote && (c == '\'' || c == '"')) {
		*quote = c;
		w->quoted = true;
	} else if (c == '\\' && *quote != '\'' && command[*at + 1]) {
		w->quoted = true;
		buf_addch(&w->text, command[++*at]);
	} else {
		w->plain &= *quote == '\'' || !strchr(*quote ? "$`" : "$`*?[;|&<>(){}~#!", c);
		w->expands |= strchr(*quote == '\'' ? ""
				     : *quote       ? "$`"
						    : "$`*?[",
				     c) ||
			      (c == '~' && *at == w->start);
		buf_addch(&w->text, c);
	}
	++*at;
}

/* The next word from `at` on; false at the end. */
static bool command_next_word(const char *command, size_t at, struct command_word *w)
{
	char quote = 0;

	at += strspn(command + at, " \t\n");
	buf_clear(&w->text);
	w->start = at;
	w->plain = true;
	w->quoted = w->expands = false;
	while (command[at] && (quote || !strchr(" \t\n", command[at])))
		word_char(w, command, &at, &quote);
	w->end = at;
	return w->end > w->start;
}

/* Text has no NUL in it; nothing is lost where it is empty. */
static bool is_text(const char *path)
{
	char bytes[LOOK_BYTES];
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));

	if (fd >= 0)
		close(fd);
	return n <= 0 || !memchr(bytes, '\0', (size_t)n);
}

static bool resource_kind(const char *path, enum resource_kind *ret)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	*ret = S_ISREG(st.st_mode) ? RESOURCE_IMAGE : RESOURCE_PLACE;
	if (S_ISREG(st.st_mode))
		return !(st.st_mode & S_IXUSR) && !is_text(path);
	return S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode);
}

/* Reduces the word of an option to the text after "=", up to a comma. */
static void resource_cut_option(const char *command, struct command_word *w)
{
	const char *equals = w->quoted ? NULL : strchr(w->text.data, '=');
	struct buf value = BUF_INIT;

	if (!equals)
		return;
	w->start += (size_t)(equals + 1 - w->text.data);
	w->end = w->start + strcspn(command + w->start, ", \t\n");
	buf_add(&value, command + w->start, w->end - w->start);
	buf_free(&w->text);
	w->text = value;
}

int resource_each(const char *command, const struct resource_visitor *visitor, struct buf *out,
		  struct err *err)
{
	struct buf replaced = BUF_INIT;
	struct command_word w = { 0 };
	enum resource_kind kind;
	size_t at = 0, copied = 0;
	int ret = 0;

	for (bool first = true; !ret && command_next_word(command, at, &w); first = false) {
		at = w.end;
		if (first || !w.plain)
			continue;
		if (!resource_kind(buf_str(&w.text), &kind)) {
			resource_cut_option(command, &w);
			if (!w.text.len || !resource_kind(w.text.data, &kind))
				continue;
		}
		buf_clear(&replaced);
		ret = visitor->visit(visitor->to, kind, w.text.data, &replaced, err);
		if (!replaced.len)
			continue;
		buf_add(out, command + copied, w.start - copied);
		buf_add(out, replaced.data, replaced.len);
		copied = w.end;
	}
	buf_adds(out, command + copied);
	buf_free(&replaced);
	buf_free(&w.text);
	return ret;
}

/* Where a word of the text ends, for any shell or daemon that takes it apart. */
static const char separators[] = " \t\n;|&<>()=,:\"'`";

/* Whether a shell that is given the text would replace something other than its own arguments ($0,
 * $@) and processes ($!). */
static bool text_expands(const char *text)
{
	for (const char *at = text; *at; at++) {
		char before = at > text ? at[-1] : ' ', after = at[1];

		if (*at == '`' || (*at == '$' && after && (isalpha(after) || strchr("_{(", after))))
			return true;
		if (strchr("*?", *at) && before != '$')
			return true;
		if (*at == '[' && after && after != ' ') /* a lone one is the command */
			return true;
		if (*at == '~' && strchr(separators, before))
			return true;
	}
	return false;
}

/* Into `found`: the first directory, device or image that the text names. */
static bool text_names(const char *text, struct buf *found)
{
	enum resource_kind kind;

	for (const char *at = text; *at; at += strspn(at, separators)) {
		size_t len = strcspn(at, separators);

		buf_clear(found);
		buf_add(found, at, len);
		if (len && resource_kind(buf_str(found), &kind))
			return true;
		at += len;
	}
	return false;
}

/* A word with other words in it: a line for another shell, or one that this shell takes apart. */
static bool word_is_text(const struct command_word *w)
{
	const char *text = buf_str((struct buf *)&w->text);

	return (w->quoted || !w->plain) && strpbrk(text, " \t\n;|&<>()`") && access(text, F_OK);
}

static int word_check_text(const struct command_word *w, struct err *err)
{
	struct buf found = BUF_INIT;
	int ret = 0;

	if (text_names(w->text.data, &found))
		ret = err_set(
			err, EINVAL,
			"%s: named inside \"%s\", where Assay cannot copy or lock it; make it "
			"a word of the command (sh -c '... $0' PATH) or use a script file",
			found.data, w->text.data);
	else if (text_expands(w->text.data))
		ret = err_set(err, EINVAL,
			      "%s: only a shell can expand this, so Assay cannot copy or lock what "
			      "it names; write it out or use a script file",
			      w->text.data);
	buf_free(&found);
	return ret;
}

int resource_check(const char *command, struct err *err)
{
	struct command_word w = { 0 };
	size_t at = 0;
	int ret = 0;

	for (; !ret && command_next_word(command, at, &w); at = w.end) {
		if (w.expands)
			ret = err_set(err, EINVAL,
				      "%s: only a shell can expand this, so Assay cannot copy or "
				      "lock what it names; write it out",
				      w.text.data);
		else if (word_is_text(&w))
			ret = word_check_text(&w, err);
	}
	buf_free(&w.text);
	return ret;
}

static int resource_note_place(void *to, enum resource_kind kind, const char *path,
			       struct buf *replaced, struct err *err)
{
	*(bool *)to |= kind == RESOURCE_PLACE;
	return 0;
}

bool resource_is_named(const char *command)
{
	bool named = false;
	const struct resource_visitor visitor = { resource_note_place, &named };
	struct buf unchanged = BUF_INIT;

	resource_each(command, &visitor, &unchanged, NULL);
	buf_free(&unchanged);
	return named;
}
