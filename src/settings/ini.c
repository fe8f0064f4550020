/* ini.c -- INI files by inih.
 *
 * inih is fed line by line, so that it is known here which line it is at, and so that lines and
 * names it would silently cut are errors. */
#include "settings/ini.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/trust.h"

enum { FILE_MAX = 1 << 20, SECTION_MAX = 49 };

struct ini_reader {
	struct ini *ini;
	const char *next; /* of the text */
	int line;
	const char *comment; /* of this line, up to its end; NULL */
	bool indented;       /* this line */
	bool has_key;        /* this section; an indented line then continues a value */
	struct err *err;
};

/* The text after the first ';' that follows a space, as inih finds it; NULL if there is none. */
static const char *find_comment(const char *line, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (line[i] == ';' && isspace((unsigned char)line[i - 1]))
			return line + i + 1 + strspn(line + i + 1, " \t");
	return NULL;
}

/* inih's fgets. Returning NULL ends the parse, at the end of the text or on an error. */
static char *next_line(char *line, int size, void *stream)
{
	struct ini_reader *r = stream;
	size_t len = strcspn(r->next, "\n");
	const char *start = r->next + strspn(r->next, " \t\r\v\f");

	if (!*r->next)
		return NULL;
	r->line++;
	if (len > (size_t)size - 3) {
		err_set(r->err, EINVAL, "%s:%d: the line is longer than %d bytes", r->ini->path,
			r->line, size - 3);
		return NULL;
	}
	r->indented = isspace((unsigned char)*r->next);
	r->comment = find_comment(r->next, len);
	if (*start == '[' && !(r->indented && r->has_key)) {
		r->has_key = false;
		if (strcspn(start, "]\n") > SECTION_MAX) {
			err_set(r->err, EINVAL, "%s:%d: the section's name is longer than %d bytes",
				r->ini->path, r->line, SECTION_MAX - 1);
			return NULL;
		}
	}
	memcpy(line, r->next, len);
	line[len] = '\0';
	r->next += len + (r->next[len] == '\n');
	return line;
}

static void ini_join_value(const char **text, const char *more)
{
	struct buf joined = BUF_INIT;

	buf_addf(&joined, "%s\n%s", *text, more);
	free((char *)*text);
	*text = joined.data;
}

/* The comment of this line without the space at its end. */
static char *copy_comment(const struct ini_reader *r)
{
	struct buf text = BUF_INIT;
	size_t len;

	if (!r->comment)
		return NULL;
	len = strcspn(r->comment, "\n");
	while (len && isspace((unsigned char)r->comment[len - 1]))
		len--;
	buf_add(&text, r->comment, len);
	return text.data ? text.data : must_strdup("");
}

static int ini_add_row(void *user, const char *section, const char *key, const char *value)
{
	struct ini_reader *r = user;
	struct ini *ini = r->ini;

	if (r->indented && r->has_key) {
		ini_join_value(&ini->rows[ini->count - 1].value, value);
		return 1;
	}
	if (!*key) {
		err_set(r->err, EINVAL, "%s:%d: a key has no name", ini->path, r->line);
		return 0;
	}
	r->has_key = true;
	ini->rows = must_realloc(ini->rows, (ini->count + 1) * sizeof(*ini->rows));
	ini->rows[ini->count++] = (struct ini_row){
		.section = must_strdup(section),
		.key = must_strdup(key),
		.value = must_strdup(value),
		.comment = copy_comment(r),
		.line = r->line,
	};
	return 1;
}

int ini_read_text(struct ini *ini, const char *name, const char *text, struct err *err)
{
	struct err own = { 0 };
	struct ini_reader r = { .ini = ini, .next = text, .err = &own };
	int bad_line;

	*ini = (struct ini){ .path = must_strdup(name) };
	bad_line = ini_parse_stream(next_line, &r, ini_add_row, &r);
	if (!own.code && bad_line)
		err_set(&own, EINVAL, "%s:%d: neither [section] nor key = value", name, bad_line);
	if (!own.code)
		return 0;
	ini_free(ini);
	return err_set(err, EINVAL, "%s", own.text);
}

/* The text of a file, unless it could not be read. */
static int ini_read_whole(struct ini *ini, const char *path, const struct buf *text, int ret,
			  struct err *err)
{
	*ini = (struct ini){ 0 };
	if (!ret && strlen(buf_str(text)) != text->len)
		ret = err_set(err, EINVAL, "%s contains a NUL byte", path);
	return ret ? ret : ini_read_text(ini, path, buf_str(text), err);
}

int ini_read(struct ini *ini, const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret = buf_read_file(&text, path, FILE_MAX, err);

	ret = ini_read_whole(ini, path, &text, ret, err);
	buf_free(&text);
	return ret;
}

int ini_read_trusted(struct ini *ini, const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	int fd = trust_open(path, O_RDONLY, err);
	int ret = fd < 0 ? fd : buf_read_fd(&text, fd, FILE_MAX, err);

	ret = ini_read_whole(ini, path, &text, ret, err);
	if (fd >= 0)
		close(fd);
	buf_free(&text);
	return ret;
}

static char *ini_trimmed(const char *text, size_t len)
{
	struct buf copy = BUF_INIT;

	for (; len && isspace((unsigned char)*text); len--)
		text++;
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	buf_add(&copy, text, len);
	return copy.data ? copy.data : must_strdup("");
}

void ini_add(struct ini *ini, const char *section, size_t section_len, const char *key,
	     size_t key_len, const char *value)
{
	ini->rows = must_realloc(ini->rows, (ini->count + 1) * sizeof(*ini->rows));
	ini->rows[ini->count++] = (struct ini_row){
		.section = ini_trimmed(section, section_len),
		.key = ini_trimmed(key, key_len),
		.value = ini_trimmed(value, strlen(value)),
	};
}

const char *ini_get(const struct ini *ini, const char *section, const char *key)
{
	for (size_t i = ini->count; i-- > 0;)
		if (!strcmp(ini->rows[i].section, section) && !strcmp(ini->rows[i].key, key))
			return ini->rows[i].value;
	return NULL;
}

void ini_free(struct ini *ini)
{
	for (size_t i = 0; i < ini->count; i++) {
		free((char *)ini->rows[i].section);
		free((char *)ini->rows[i].key);
		free((char *)ini->rows[i].value);
		free((char *)ini->rows[i].comment);
	}
	free(ini->rows);
	free(ini->path);
	*ini = (struct ini){ 0 };
}
