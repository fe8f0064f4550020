/* ini.h -- INI files (by inih): sections of keys in the order of the file, with line numbers. */
#ifndef SETTINGS_INI_H
#define SETTINGS_INI_H

#include <stddef.h>

struct err;

struct ini_row {
	const char *section, *key, *value;
	const char *comment; /* behind the value's first line; NULL if there is none */
	int line;
};

struct ini {
	char *path;
	struct ini_row *rows;
	size_t count;
};

/* Errors name file and line. Indented lines continue a value and are joined by '\n'; ';' or '#'
 * at the start of a line, and ';' behind a space, begin a comment. On failure ini is empty. */
int ini_read(struct ini *ini, const char *path, struct err *err);
/* For a file with commands: rejected if another user could have written it (trust.h). */
int ini_read_trusted(struct ini *ini, const char *path, struct err *err);
int ini_read_text(struct ini *ini, const char *name, const char *text, struct err *err);
/* One more row, of any length, that no file has: its line is 0. Space around its parts is left
 * out. */
void ini_add(struct ini *ini, const char *section, size_t section_len, const char *key,
	     size_t key_len, const char *value);
/* The last value of section.key, or NULL. */
const char *ini_get(const struct ini *ini, const char *section, const char *key);
void ini_free(struct ini *ini);

#endif
