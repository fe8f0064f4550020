/* code.h -- the code of a kernel by its points: which were reached, by file, function and line.
 *
 * A table (made by kernel/points) has a row for each point: address, line of the sources, function.
 * What was reached is a bit for each, counted from where the table says. */
#ifndef CODECOV_CODE_H
#define CODECOV_CODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"

struct err;

struct code_point {
	uint32_t bit, file, line;
	uint32_t function; /* of all files, in order of appearance */
};

struct code_file {
	const char *path;    /* "fs/ext4/namei.c" */
	uint32_t directory;  /* number of "fs/ext4"; what is below it counts as the same */
	bool common;         /* to all file systems: VFS and the like */
	size_t first, count; /* its points */
};

struct code {
	char *table;             /* its path */
	struct hash hash;        /* of the table: whose points these are */
	struct buf text;         /* of the table: holds the names */
	const char *source;      /* the directory of the sources */
	size_t bits;             /* all are below */
	struct code_file *files; /* by path */
	size_t file_count, directory_count;
	const char **functions; /* names */
	size_t function_count;
	struct code_point *points; /* by file and line */
	size_t count;
};

/* bits_max: how many there can be. Free it also after a failure. */
int code_read(struct code *c, const char *table, size_t bits_max, struct err *err);
void code_free(struct code *c);

static inline bool code_has(const uint8_t *bits, uint32_t bit)
{
	return bits[bit / 8] >> bit % 8 & 1;
}

/* What was reached, in DIR/kernel-coverage.points. Loading adds to the bits and returns how many
 * were new. */
int code_save(const struct code *c, const uint8_t *bits, const char *dir, struct err *err);
int code_load(const struct code *c, uint8_t *bits, const char *dir, size_t *ret_new,
	      struct err *err);
bool code_is_saved(const char *dir);
/* The path of the table that what is saved there belongs to. */
int code_saved_table(const char *dir, struct buf *ret, struct err *err);

/* Of the directories where a hundredth or more was reached: points and functions by file; lines
 * never reached; the same for lcov. */
json_t *code_json(const struct code *c, const uint8_t *bits);
void code_lines(const struct code *c, const uint8_t *bits, struct buf *out);
void code_info(const struct code *c, const uint8_t *bits, struct buf *out);

#endif
