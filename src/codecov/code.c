/* code.c -- tables of points are read; what was reached of them is saved and loaded. */
#include "codecov/code.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map.h"
#include "base/must.h"

enum { TABLE_BYTES_MAX = 256 << 20, SAVED_BYTES_MAX = 64 << 20 };

/* Directories of fs/ with what all file systems have in common, besides fs/ itself. */
static const char *const common_directories[] = {
	"crypto", "exportfs", "iomap", "kernfs", "netfs",   "nls",    "notify",
	"proc",   "quota",    "ramfs", "sysfs",  "unicode", "verity",
};

/* What a table is read with. */
struct reading {
	struct code *code;
	size_t bits_max, cap;
	uint64_t start, point_bytes;
	struct str_map files, directories;
	struct str_map functions; /* by file and name */
	struct buf key;
};

/* "fs" or "fs/ext4" */
static size_t directory_len(const char *path)
{
	size_t first = strcspn(path, "/"), second;

	if (!path[first])
		return 0;
	second = first + 1 + strcspn(path + first + 1, "/");
	return path[second] ? second : first;
}

static bool is_common(const char *path, size_t len)
{
	size_t first = strcspn(path, "/") + 1;

	if (len < first)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(common_directories); i++)
		if (strlen(common_directories[i]) == len - first &&
		    !strncmp(common_directories[i], path + first, len - first))
			return true;
	return false;
}

/* "points ADDRESS BYTES SOURCE" */
static bool read_first(struct reading *r, char *row)
{
	char *end;

	if (strncmp(row, "points ", 7))
		return false;
	r->start = strtoull(row + 7, &end, 16);
	r->point_bytes = strtoull(end, &end, 10);
	if (*end != ' ' || !r->point_bytes)
		return false;
	r->code->source = end + 1;
	return true;
}

static uint32_t number_of(struct str_map *map, const char *key, bool *ret_new)
{
	uint64_t *number = str_map_put(map, key, ret_new);

	if (*ret_new)
		*number = map->count - 1;
	return (uint32_t)*number;
}

static uint32_t code_directory_of(struct reading *r, const char *path, size_t len)
{
	bool is_new;
	uint32_t n;

	buf_clear(&r->key);
	buf_add(&r->key, path, len);
	n = number_of(&r->directories, buf_str(&r->key), &is_new);
	r->code->directory_count = r->directories.count;
	return n;
}

static uint32_t code_file_of(struct reading *r, const char *path)
{
	struct code *c = r->code;
	bool is_new;
	uint32_t n = number_of(&r->files, path, &is_new);

	if (is_new) {
		size_t len = directory_len(path);

		c->files = must_realloc(c->files, (n + 1) * sizeof(*c->files));
		c->files[n] = (struct code_file){
			.path = path,
			.directory = code_directory_of(r, path, len),
			.common = is_common(path, len),
		};
		c->file_count = n + 1;
	}
	return n;
}

static uint32_t function_of(struct reading *r, const char *file, const char *name)
{
	struct code *c = r->code;
	bool is_new;
	uint32_t n;

	buf_clear(&r->key);
	buf_adds(&r->key, file);
	buf_addch(&r->key, ' ');
	buf_adds(&r->key, name);
	n = number_of(&r->functions, r->key.data, &is_new);
	if (is_new) {
		c->functions = must_realloc(c->functions, (n + 1) * sizeof(*c->functions));
		c->functions[n] = name;
		c->function_count = n + 1;
	}
	return n;
}

/* "ADDRESS FILE:LINE FUNCTION" */
static bool code_read_row(struct reading *r, char *row)
{
	struct code *c = r->code;
	char *end, *file, *line, *function;
	uint64_t bit, address = strtoull(row, &end, 16);
	struct code_point *p;

	if (*end != ' ' || address < r->start)
		return false;
	bit = (address - r->start) / r->point_bytes;
	file = end + 1;
	function = strchr(file, ' ');
	if (!function || bit >= r->bits_max)
		return false;
	*function++ = '\0';
	line = strrchr(file, ':');
	if (!line)
		return false;
	*line++ = '\0';
	if (c->count == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 1024;
		c->points = must_realloc(c->points, r->cap * sizeof(*c->points));
	}
	p = &c->points[c->count++];
	p->bit = (uint32_t)bit;
	p->line = (uint32_t)strtoul(line, NULL, 10); /* 0: "?", not known */
	p->file = code_file_of(r, file);
	p->function = function_of(r, file, function);
	if (p->bit >= c->bits)
		c->bits = p->bit + 1;
	return true;
}

static int read_rows(struct reading *r, struct err *err)
{
	size_t number = 0;
	char *save = NULL;

	for (char *row = strtok_r(r->code->text.data, "\n", &save); row;
	     row = strtok_r(NULL, "\n", &save), number++)
		if (number ? !code_read_row(r, row) : !read_first(r, row))
			return err_set(err, EINVAL, "%s:%zu: not a row of a table of points",
				       r->code->table, number + 1);
	return number ? 0 : err_set(err, EINVAL, "%s is empty", r->code->table);
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct code_file *)a)->path, ((const struct code_file *)b)->path);
}

static int compare_points(const void *a, const void *b)
{
	const struct code_point *p = a, *q = b;

	if (p->file != q->file)
		return p->file < q->file ? -1 : 1;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	return p->bit < q->bit ? -1 : p->bit > q->bit;
}

/* Files by path, points by file and line. */
static void code_sort(struct code *c, const struct str_map *files)
{
	uint32_t *places = must_alloc((c->file_count + 1) * sizeof(*places));

	qsort(c->files, c->file_count, sizeof(*c->files), compare_files);
	for (uint32_t i = 0; i < c->file_count; i++)
		places[*str_map_get(files, c->files[i].path)] = i;
	for (size_t i = 0; i < c->count; i++) {
		c->points[i].file = places[c->points[i].file];
		c->files[c->points[i].file].count++;
	}
	for (uint32_t i = 1; i < c->file_count; i++)
		c->files[i].first = c->files[i - 1].first + c->files[i - 1].count;
	qsort(c->points, c->count, sizeof(*c->points), compare_points);
	free(places);
}

int code_read(struct code *c, const char *table, size_t bits_max, struct err *err)
{
	struct reading r = {
		.code = c,
		.bits_max = bits_max,
		.files = STR_MAP_INIT,
		.directories = STR_MAP_INIT,
		.functions = STR_MAP_INIT,
	};
	int status;

	*c = (struct code){ .table = must_strdup(table) };
	status = buf_read_file(&c->text, table, TABLE_BYTES_MAX, err);
	if (!status) {
		c->hash = hash128(buf_str(&c->text), c->text.len, 0);
		status = read_rows(&r, err);
	}
	if (!status)
		code_sort(c, &r.files);
	str_map_free(&r.files);
	str_map_free(&r.directories);
	str_map_free(&r.functions);
	buf_free(&r.key);
	return status;
}

void code_free(struct code *c)
{
	free(c->table);
	buf_free(&c->text);
	free(c->files);
	free(c->functions);
	free(c->points);
	*c = (struct code){ 0 };
}

/* ---- what was reached ---- */

static void saved_path(const char *dir, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s/kernel-coverage.points", dir);
}

/* The first row is the table's hash and path, then come the numbers of bits. */
int code_save(const struct code *c, const uint8_t *bits, const char *dir, struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX], hash[33];
	int status;

	hash_print(c->hash, hash);
	buf_addf(&text, "%s %s\n", hash, c->table);
	for (size_t i = 0; i < c->count; i++)
		if (code_has(bits, c->points[i].bit)) {
			buf_addu(&text, c->points[i].bit);
			buf_addch(&text, '\n');
		}
	saved_path(dir, path);
	status = buf_write_file(&text, path, err);
	buf_free(&text);
	return status;
}

bool code_is_saved(const char *dir)
{
	char path[PATH_MAX];

	saved_path(dir, path);
	return !access(path, F_OK);
}

/* The whole file, with NUL behind the first row. */
static int read_saved(const char *dir, struct buf *ret, char path[PATH_MAX], struct err *err)
{
	char *end;
	int status;

	saved_path(dir, path);
	status = buf_read_file(ret, path, SAVED_BYTES_MAX, err);
	if (status)
		return status;
	end = memchr(buf_str(ret), '\n', ret->len);
	if (!end || end - ret->data < 34)
		return err_set(err, EINVAL, "%s: no points of code", path);
	*end = '\0';
	return 0;
}

int code_saved_table(const char *dir, struct buf *ret, struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	int status = read_saved(dir, &text, path, err);

	if (!status)
		buf_adds(ret, text.data + 33);
	buf_free(&text);
	return status;
}

static int add_bits(const struct code *c, uint8_t *bits, char *rows, size_t *ret_new)
{
	size_t count = 0;
	char *save = NULL;
	unsigned long bit;

	for (char *row = strtok_r(rows, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
		bit = strtoul(row, NULL, 10);
		if (bit >= c->bits)
			return -EINVAL;
		count += !code_has(bits, (uint32_t)bit);
		bits[bit / 8] |= (uint8_t)(1 << bit % 8);
	}
	*ret_new = count;
	return 0;
}

int code_load(const struct code *c, uint8_t *bits, const char *dir, size_t *ret_new,
	      struct err *err)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX], hash[33];
	int status = read_saved(dir, &text, path, err);

	hash_print(c->hash, hash);
	if (!status && memcmp(text.data, hash, 32))
		status = err_set(err, EINVAL, "%s: points of another kernel than %s", path,
				 c->table);
	if (!status && add_bits(c, bits, text.data + strlen(text.data) + 1, ret_new))
		status = err_set(err, EINVAL, "%s: damaged", path);
	buf_free(&text);
	return status;
}
