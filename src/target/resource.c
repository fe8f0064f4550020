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

/* Between the parts of an option or of a list: "-o a=x,b=y:z", "x,y", "x=RW:y=RO". */
static const char part_separators[] = "=,:";

/* The next part of the word from `at` on; false at the end. */
static bool word_next_part(const char *command, const struct command_word *w, size_t at,
			   struct command_word *part)
{
	while (at < w->end && strchr(part_separators, command[at]))
		at++;
	part->start = at;
	part->end = at + strcspn(command + at, part_separators);
	if (part->end > w->end)
		part->end = w->end;
	buf_clear(&part->text);
	buf_add(&part->text, command + part->start, part->end - part->start);
	return part->end > part->start;
}

/* A list of nothing but places and images: "x,y". */
static bool word_is_list(const char *command, const struct command_word *w)
{
	struct command_word part = { .end = w->start };
	enum resource_kind kind;
	bool all = true;

	while (all && word_next_part(command, w, part.end, &part))
		all = resource_kind(part.text.data, &kind);
	buf_free(&part.text);
	return all;
}

/* What is being made of a command. */
struct command_copy {
	const char *command;
	const struct resource_visitor *visitor;
	struct buf *out, replaced;
	size_t copied;
};

/* Visits a word or a part of one if it names something; 1 if it does. */
static int copy_visit(struct command_copy *copy, const struct command_word *w, struct err *err)
{
	enum resource_kind kind;
	int ret;

	if (!resource_kind(buf_str((struct buf *)&w->text), &kind))
		return 0;
	buf_clear(&copy->replaced);
	ret = copy->visitor->visit(copy->visitor->to, kind, w->text.data, &copy->replaced, err);
	if (copy->replaced.len) {
		buf_add(copy->out, copy->command + copy->copied, w->start - copy->copied);
		buf_add(copy->out, copy->replaced.data, copy->replaced.len);
		copy->copied = w->end;
	}
	return ret ? ret : 1;
}

/* The parts of a word that names nothing as a whole. One that may be the name of an option is none
 * of a place: it follows a "=", has a slash in it, or is one of a list. */
static int copy_visit_parts(struct command_copy *copy, const struct command_word *w,
			    struct err *err)
{
	bool list = word_is_list(copy->command, w);
	struct command_word part = { .end = w->start };
	int ret = 0;

	while (ret >= 0 && word_next_part(copy->command, w, part.end, &part))
		if (list || memchr(part.text.data, '/', part.text.len) ||
		    (part.start > w->start && copy->command[part.start - 1] == '='))
			ret = copy_visit(copy, &part, err);
	buf_free(&part.text);
	return ret;
}

int resource_each(const char *command, const struct resource_visitor *visitor, struct buf *out,
		  struct err *err)
{
	struct command_copy copy = { .command = command, .visitor = visitor, .out = out };
	struct command_word w = { 0 };
	int ret = 0;

	for (bool first = true; ret >= 0 && command_next_word(command, w.end, &w); first = false) {
		if (first || !w.plain)
			continue;
		ret = copy_visit(&copy, &w, err);
		if (!ret && !w.quoted)
			ret = copy_visit_parts(&copy, &w, err);
	}
	buf_adds(out, command + copy.copied);
	buf_free(&copy.replaced);
	buf_free(&w.text);
	return ret < 0 ? ret : 0;
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
