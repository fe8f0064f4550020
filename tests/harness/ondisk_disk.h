/* ondisk_disk.h -- for tests of on-disk formats: disks that mkfs made and a kernel in a process
 * filled, what was found on them, and what the format's own tools say of them. */
#ifndef TESTS_ONDISK_DISK_H
#define TESTS_ONDISK_DISK_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "ondisk/ondisk.h"
#include "storage/image.h"
#include "target/target.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

struct test_disk {
	uint8_t *bytes;
	uint64_t size;
	struct ondisk_map map;
};

static inline void test_disk_call(struct target *t, const char *text)
{
	struct arena arena = ARENA_INIT;
	enum target_fate fate = FATE_DIED;
	struct err err = { 0 };
	struct outcome outcome;
	struct call c;

	if (call_parse(&c, text, &arena, &err) || target_call(t, &c, &outcome, &fate, &err))
		fail_msg("%s: %s", text, err.text);
	if (fate != FATE_FINE || outcome.error)
		fail_msg("%s: fate %d, error %d", text, (int)fate, outcome.error);
	arena_free(&arena);
}

__attribute__((format(printf, 2, 3))) static inline void test_disk_callf(struct target *t,
									 const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	test_disk_call(t, text);
}

/* A file with direct, indirect and double-indirect blocks, links, directories, small files. */
static inline void test_disk_content(struct target *t, unsigned large, unsigned small_files)
{
	test_disk_call(t, "mkdir(\"d\", 0755)");
	test_disk_call(t, "mkdir(\"d/e\", 0700)");
	test_disk_callf(t, "write_file(\"large\", O_CREAT|O_WRONLY, data(1, %u), %u, 0)", large,
			large);
	test_disk_call(t, "write_file(\"d/tail\", O_CREAT|O_WRONLY, data(2, 100), 100, 0)");
	for (unsigned i = 0; i < small_files; i++)
		test_disk_callf(
			t, "write_file(\"d/small%u\", O_CREAT|O_WRONLY, data(%u, 1500), 1500, 0)",
			i, i);
	test_disk_call(t, "unlink(\"d/small1\")");
}

/* What only file systems of Unix have. */
static inline void test_disk_unix_content(struct target *t)
{
	test_disk_call(t, "symlink(\"d/tail\", \"short\")");
	test_disk_callf(t, "symlink(\"d/%0100d\", \"long\")", 0);
	test_disk_call(t, "link(\"d/tail\", \"d/e/hard\")");
	test_disk_call(t, "mknod(\"fifo\", S_IFIFO|0644, 0)");
	test_disk_call(t, "mknod(\"chr\", S_IFCHR|0600, 259)");
	test_disk_call(t, "mknod(\"blk\", S_IFBLK|0600, 1793)");
	test_disk_call(t, "mknod(\"sock\", S_IFSOCK|0600, 0)");
}

/* The file system FS of a kernel in a process, on a disk of so many bytes. false: no kernel is
 * built, or no mkfs is there. */
static inline bool test_disk_make(struct test_disk *d, const char *fs, const char *mkfs,
				  const char *size, void (*fill)(struct target *))
{
	struct target_options options = { .deadline_seconds = 60 };
	char path[] = "/tmp/assay-ondisk-XXXXXX", spec[64];
	enum target_fate fate = FATE_FINE;
	struct buf ini = BUF_INIT;
	struct err err = { 0 };
	struct image image = { 0 };
	struct target *t;
	int error = 0, fd = mkstemp(path);

	*d = (struct test_disk){ 0 };
	assert_true(fd >= 0);
	close(fd);
	snprintf(spec, sizeof(spec), "kernel:%s", fs);
	buf_addf(&ini, "[target.%s]\nbase = %s\nmkfs = %s\nimage_size = %s\n", spec, spec, mkfs,
		 size);
	assert_int_equal(buf_write_file(&ini, path, &err), 0);
	buf_free(&ini);
	options.config = path;
	if (target_open(&t, spec, &options, &err)) {
		unlink(path);
		if (err.code != -ENOTSUP)
			fail_msg("%s", err.text);
		print_message("# %s\n", err.text);
		return false;
	}
	fill(t);
	if (t->kind->unmounted_disk(t, &image, &error, &fate, &err) || error || fate != FATE_FINE)
		fail_msg("unmounting %s: error %d, fate %d: %s", spec, error, (int)fate, err.text);
	d->size = image.size;
	d->bytes = must_alloc(image.size);
	memcpy(d->bytes, image.bytes, image.size);
	image_free(&image);
	target_close(t);
	unlink(path);
	return true;
}

static inline void test_disk_walk(struct test_disk *d)
{
	struct err err = { 0 };

	if (ondisk_read(&d->map, d->bytes, d->size, &err))
		fail_msg("%s", err.text);
}

static inline void test_disk_free(struct test_disk *d)
{
	ondisk_free(&d->map);
	free(d->bytes);
	*d = (struct test_disk){ 0 };
}

/* Runs a command of the shell on the file "$IMAGE"; returns its exit status. */
static inline int test_disk_shell(const char *path, const char *command, struct buf *out)
{
	char part[4096];
	int status;
	size_t n;
	FILE *f;

	setenv("IMAGE", path, 1);
	f = popen(command, "r");
	assert_non_null(f);
	if (out)
		buf_clear(out);
	while ((n = fread(part, 1, sizeof(part), f)))
		if (out)
			buf_add(out, part, n);
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A file that has holes where the disk is zero. */
static inline void test_disk_write(int fd, const uint8_t *bytes, uint64_t size)
{
	static const uint8_t zero[4096];

	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	for (uint64_t at = 0; at < size; at += sizeof(zero)) {
		size_t len = size - at < sizeof(zero) ? size - at : sizeof(zero);

		if (memcmp(bytes + at, zero, len) != 0)
			assert_int_equal(pwrite(fd, bytes + at, len, (off_t)at), len);
	}
}

/* The same on a copy of the disk. */
static inline int test_disk_tool(const uint8_t *bytes, uint64_t size, const char *command,
				 struct buf *out)
{
	char path[] = "/tmp/assay-ondisk-XXXXXX";
	int fd = mkstemp(path), status;

	assert_true(fd >= 0);
	test_disk_write(fd, bytes, size);
	close(fd);
	status = test_disk_shell(path, command, out);
	unlink(path);
	return status;
}

/* A disk of so many bytes that a command makes. false: it fails. */
static inline bool test_disk_by(struct test_disk *d, uint64_t size, const char *command)
{
	char path[] = "/tmp/assay-ondisk-XXXXXX";
	int fd = mkstemp(path);
	bool made;

	*d = (struct test_disk){ .size = size, .bytes = must_alloc(size) };
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	made = test_disk_shell(path, command, NULL) == 0;
	for (uint64_t at = 0; made && at < size;) {
		ssize_t n = pread(fd, d->bytes + at, size - at, (off_t)at);

		assert_true(n > 0);
		at += (uint64_t)n;
	}
	close(fd);
	unlink(path);
	if (!made)
		free(d->bytes);
	return made;
}

static inline size_t test_disk_count(const struct test_disk *d, const char *structure)
{
	size_t count = 0;

	for (size_t i = 0; i < d->map.count; i++)
		count += strcmp(d->map.instances[i].structure->name, structure) == 0;
	return count;
}

static inline uint64_t test_disk_number(const struct test_disk *d, const struct ondisk_instance *i,
					const struct ondisk_field *f)
{
	uint64_t value = 0;

	assert_true(f->size <= 8);
	for (unsigned k = 0; k < f->size; k++) {
		unsigned at = i->structure->big_endian ? k : f->size - 1U - k;

		value = value << 8 | d->bytes[i->at + f->offset + at];
	}
	return value;
}

/* The first instance that has this in its label, and a field of it. */
static inline const struct ondisk_instance *test_disk_find(const struct test_disk *d,
							   const char *name, const char *label,
							   const struct ondisk_field **ret)
{
	const struct ondisk_structure *s = NULL;

	*ret = ondisk_find(d->map.format, name, &s);
	assert_non_null(*ret);
	for (size_t i = 0; i < d->map.count; i++) {
		const struct ondisk_instance *x = &d->map.instances[i];

		if (x->structure == s && strstr(x->label, label))
			return x;
	}
	fail_msg("no %s with \"%s\"", name, label);
	return NULL;
}

static inline uint64_t test_disk_value(const struct test_disk *d, const char *name,
				       const char *label)
{
	const struct ondisk_field *f;
	const struct ondisk_instance *x = test_disk_find(d, name, label, &f);

	return test_disk_number(d, x, f);
}

/* Every byte of the field becomes this one, and checksums right again. */
static inline void test_disk_corrupt(const struct test_disk *d, const char *name, const char *label,
				     uint8_t byte)
{
	const struct ondisk_field *f;
	const struct ondisk_instance *x = test_disk_find(d, name, label, &f);

	memset(d->bytes + x->at + f->offset, byte, ondisk_field_size(x, f));
	ondisk_seal(&d->map, d->bytes, x->at + f->offset, ondisk_field_size(x, f));
}

/* Nothing changes where nothing was changed. */
static inline void test_disk_seal_unchanged(const struct test_disk *d)
{
	uint8_t *before = must_alloc(d->size);

	memcpy(before, d->bytes, d->size);
	for (size_t i = 0; i < d->map.count; i++)
		ondisk_seal(&d->map, d->bytes, d->map.instances[i].at, d->map.instances[i].size);
	assert_true(memcmp(before, d->bytes, d->size) == 0);
	/* Checksums that lie in what is sealed are left as they are: seal their neighbours, too. */
	ondisk_seal(&d->map, d->bytes, 0, 1);
	for (size_t i = 0; i < d->map.cover_count; i++)
		ondisk_seal(&d->map, d->bytes, d->map.covers[i].at, 1);
	assert_true(memcmp(before, d->bytes, d->size) == 0);
	free(before);
}

/* Whether "structure.field" is in a list that ends with NULL; a name may end in '*'. */
static inline bool test_disk_listed(const char *const *list, const struct ondisk_structure *s,
				    const struct ondisk_field *f)
{
	char name[128];

	snprintf(name, sizeof(name), "%s.%s", s->name, f->name);
	for (; list && *list; list++) {
		size_t len = strlen(*list);

		if ((*list)[len - 1] == '*' ? strncmp(name, *list, len - 1) == 0
					    : strcmp(name, *list) == 0)
			return true;
	}
	return false;
}

/* Changes a bit of a field, and has the checksums sealed. The command says by status 0 that the
 * checker complains about a checksum: it must for a checksum, and must not for anything else. */
static inline void test_disk_seal_one(const struct test_disk *d, const struct ondisk_instance *x,
				      const struct ondisk_field *f, uint8_t *copy,
				      const char *command)
{
	bool checksum = f->role == ONDISK_CHECKSUM, complains;
	uint32_t size = ondisk_field_size(x, f);
	uint64_t at = x->at + f->offset;

	memcpy(copy, d->bytes, d->size);
	copy[x->structure->big_endian ? at + size - 1 : at] ^= 1;
	ondisk_seal(&d->map, copy, at, size);
	complains = test_disk_tool(copy, d->size, command, NULL) == 0;
	if (complains != checksum)
		fail_msg("%s: %s.%s of \"%s\"", complains ? "not sealed" : "not noticed",
			 x->structure->name, f->name, x->label);
}

/* The same for the first instance of each structure, every checksum and one of four other fields.
 * A wrong pointer leads to another checksum, and so does other geometry, which is in the list of
 * exceptions, as are checksums that the checker does not read. */
static inline void test_disk_seal_holds(const struct test_disk *d, const char *command,
					const char *const *except)
{
	uint8_t *copy = must_alloc(d->size);

	for (size_t i = 0; i < d->map.count; i++) {
		const struct ondisk_instance *x = &d->map.instances[i];
		const struct ondisk_structure *s = x->structure;
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first &= d->map.instances[k].structure != s;
		for (size_t k = 0; first && k < s->field_count; k++) {
			const struct ondisk_field *f = &s->fields[k];

			if (!ondisk_field_size(x, f) || f->role == ONDISK_POINTER ||
			    (f->role != ONDISK_CHECKSUM && (i + k) % 4) ||
			    test_disk_listed(except, s, f))
				continue;
			test_disk_seal_one(d, x, f, copy, command);
		}
	}
	free(copy);
}

static inline int test_disk_order(const void *a, const void *b)
{
	const struct ondisk_instance *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return strcmp(x->structure->name, y->structure->name);
}

/* All instances lie on the disk, each is there once, and each has a field; none is written twice:
 * what a structure has a name for is not part of another one of its kind. */
static inline void test_disk_check(const struct test_disk *d)
{
	size_t bytes = d->map.count * sizeof(*d->map.instances);
	struct ondisk_instance *sorted = must_alloc(bytes);

	assert_true(d->map.count > 0);
	memcpy(sorted, d->map.instances, bytes);
	qsort(sorted, d->map.count, sizeof(*sorted), test_disk_order);
	for (size_t i = 0; i < d->map.count; i++) {
		const struct ondisk_instance *x = &sorted[i];

		assert_true(x->size > 0 && x->at + x->size <= d->size);
		assert_true(x->label[0] != '\0');
		assert_true(ondisk_field_size(x, &x->structure->fields[0]) > 0);
		if (i && x->at < sorted[i - 1].at + sorted[i - 1].size &&
		    x->structure == sorted[i - 1].structure)
			fail_msg("%s twice: \"%s\" and \"%s\"", x->structure->name,
				 sorted[i - 1].label, x->label);
	}
	free(sorted);
}

/* Fields lie one behind the other, or in another one, and have names of their own. */
static inline void test_disk_check_tables(const struct ondisk_format *format)
{
	for (size_t i = 0; i < format->structure_count; i++) {
		const struct ondisk_structure *s = format->structures[i];

		for (size_t k = 0; k < s->field_count; k++) {
			const struct ondisk_structure *found;
			char name[128];

			assert_true(k == 0 || s->fields[k].offset >= s->fields[k - 1].offset);
			snprintf(name, sizeof(name), "%s.%s", s->name, s->fields[k].name);
			assert_ptr_equal(ondisk_find(format, name, &found), &s->fields[k]);
			assert_ptr_equal(found, s);
		}
	}
}

/* A walk of a damaged disk ends, well or with an error, and finds nothing beyond it. Of many
 * instances of one kind, a few are damaged. */
static inline void test_disk_damage(const struct test_disk *d)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0xff };

	for (size_t i = 0; i < d->map.count; i += i < 100 ? 1 : 37) {
		const struct ondisk_instance *x = &d->map.instances[i];

		for (size_t k = 0; k < x->structure->field_count; k++) {
			const struct ondisk_field *f = &x->structure->fields[k];
			uint32_t size = ondisk_field_size(x, f);
			uint8_t *at = d->bytes + x->at + f->offset, *before = must_alloc(size + 1);
			struct ondisk_map map = { 0 };
			struct err err = { 0 };

			memcpy(before, at, size);
			memset(at, values[(i + k) % 4], size);
			if (ondisk_read(&map, d->bytes, d->size, &err))
				assert_true(err.code < 0 && err.text[0]);
			for (size_t n = 0; n < map.count; n++)
				assert_true(map.instances[n].at + map.instances[n].size <= d->size);
			ondisk_free(&map);
			memcpy(at, before, size);
			free(before);
		}
	}
}

/* Also of one whose end is missing. */
static inline void test_disk_cut(const struct test_disk *d)
{
	for (uint64_t size = 0; size < d->size; size += d->size / 61 + 1) {
		struct ondisk_map map = { 0 };
		struct err err = { 0 };
		uint8_t *copy = must_alloc(size + 1);

		memcpy(copy, d->bytes, size);
		if (!ondisk_read(&map, copy, size, &err))
			ondisk_free(&map);
		free(copy);
	}
}

#endif
