/* ext_disks.h -- disks of ext2, ext3 and ext4 in many variants, made by mke2fs and debugfs, with
 * content of each kind. */
#ifndef TESTS_EXT_DISKS_H
#define TESTS_EXT_DISKS_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "ondisk/ondisk.h"
#include "tests/harness/unit.h"

static const struct variant {
	const char *name, *size, *options;
	unsigned names;   /* files in one directory, for an htree */
	const char *then; /* commands of debugfs, at the end */
} variants[] = {
	{ "ext2", "2M", "-t ext2 -b 1024", 300,
	  "sif <12> links_count 0\nunlink first\nssv last_orphan 12\n" },
	{ "ext2-groups", "4M", "-t ext2 -b 1024 -g 512", 0, NULL },
	{ "revision-0", "2M", "-t ext2 -r 0 -b 1024", 0, NULL },
	{ "ext3", "4M", "-t ext3 -b 1024 -J size=1", 0,
	  "jo\njw -b 3000 mid\njw -r 3000,3001\njc\n" },
	{ "ext4", "4M", "-t ext4 -b 1024 -J size=1 -N 2048", 1300, NULL },
	{ "ext4-4k", "8M", "-t ext4 -b 4096 -O ^resize_inode", 300, NULL },
	{ "dirty", "4M", "-t ext4 -b 1024 -J size=1", 0,
	  "jo -c -v 3\njw -b 3000,3001 mid\njc\njo\njw -r 3000,3001\njc\n" },
	{ "dirty-v2", "4M", "-t ext4 -b 1024 -J size=1 -O ^64bit", 0,
	  "jo -c -v 2\njw -b 3000,3001 mid\njc\njo\njw -r 3000,3001\njc\n" },
	{ "no-csum", "2M", "-t ext4 -b 1024 -O ^metadata_csum,^uninit_bg,^has_journal", 100, NULL },
	{ "uninit", "4M", "-t ext4 -b 1024 -g 1024 -O ^metadata_csum,uninit_bg,^has_journal", 0,
	  NULL },
	{ "64bit", "4M", "-t ext4 -b 1024 -g 1024 -O 64bit,^has_journal", 0, NULL },
	{ "32bit", "4M", "-t ext4 -b 1024 -g 1024 -O ^64bit,^has_journal", 0, NULL },
	{ "inline", "2M", "-t ext4 -b 1024 -I 256 -O inline_data,^has_journal", 100, NULL },
	{ "bigalloc", "8M", "-t ext4 -b 1024 -C 4096 -O bigalloc,^has_journal", 0, NULL },
	{ "flex", "8M", "-t ext4 -b 1024 -g 1024 -G 4 -O flex_bg,^has_journal", 0, NULL },
	{ "sparse2", "4M", "-t ext4 -b 1024 -g 1024 -O sparse_super2,^resize_inode,^has_journal", 0,
	  NULL },
	{ "meta-bg", "16M", "-t ext4 -b 1024 -g 256 -O meta_bg,^resize_inode,^has_journal", 0,
	  NULL },
	{ "quota", "4M", "-t ext4 -b 1024 -O quota,project,^has_journal", 0, NULL },
	{ "orphan-file", "4M", "-t ext4 -b 1024 -J size=1 -O orphan_file", 0, NULL },
	{ "mmp", "2M", "-t ext4 -b 1024 -O ^has_journal", 0, NULL },
	{ "seed", "2M", "-t ext4 -b 1024 -O metadata_csum_seed,ea_inode,^has_journal", 0, NULL },
	{ "inode-128", "2M", "-t ext4 -b 1024 -I 128 -O ^has_journal", 0, NULL },
};

enum { VARIANTS = sizeof(variants) / sizeof(variants[0]), MID_LEN = 3000, BIG_LEN = 400000 };

struct disk {
	const struct variant *variant;
	char path[64];
	uint64_t size;
	uint8_t *bytes; /* the file, mapped */
	uint8_t *base;  /* as it was made */
	struct ondisk_map map;
};

static struct disk disks[VARIANTS];
static char dir[] = "/tmp/assay-ondisk-XXXXXX";
static const char *variant_wanted;

static bool is_wanted(const struct disk *d)
{
	return !variant_wanted || !strcmp(variant_wanted, d->variant->name);
}

#define for_each_disk(d) \
	for (struct disk *d = disks; d < disks + VARIANTS; d++) \
		if (is_wanted(d))

/* Runs a command in the directory; what it prints, and its exit status. */
static int run(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int run(struct buf *out, const char *format, ...)
{
	struct buf command = BUF_INIT;
	struct err err = { 0 };
	va_list args;
	FILE *pipe;
	int status;

	buf_addf(&command, "cd %s && PATH=$PATH:/usr/sbin:/sbin && exec 2>&1 </dev/null && ", dir);
	va_start(args, format);
	buf_vaddf(&command, format, args);
	va_end(args);
	pipe = popen(buf_str(&command), "re");
	assert_non_null(pipe);
	buf_clear(out);
	assert_int_equal(buf_read_fd(out, fileno(pipe), 1 << 24, &err), 0);
	status = pclose(pipe);
	buf_free(&command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_file(const char *name, size_t len, off_t at)
{
	char path[128];
	uint8_t *data = must_alloc(len + 1);
	struct rng rng;
	int fd;

	rng_seed(&rng, len);
	for (size_t i = 0; i < len; i++)
		data[i] = rng_u64(&rng);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, len, at), len);
	close(fd);
	free(data);
}

/* Content of each kind. */
static void write_script(const struct variant *v)
{
	struct buf s = BUF_INIT;
	struct err err = { 0 };
	char path[128];

	buf_adds(&s, "write small first\nmkdir dir\nmkdir dir/sub\nmkdir many\nwrite small "
		     "f\nwrite mid dir/mid\n"
		     "write big big\nwrite empty dir/sub/empty\nwrite far far\nwrite big frag\n"
		     "symlink fast dir/mid\nmknod pipe p\nmknod null c 1 3\nmknod blk b 8 300\n"
		     "ln f hard\nset_inode_field f links_count 2\nea_set f user.small value\n"
		     "ea_set dir user.d text\nsymlink slow ");
	for (int i = 0; i < 90; i++)
		buf_addch(&s, 'x');
	buf_adds(&s, "\nea_set big user.large ");
	for (int i = 0; i < 300; i++)
		buf_addch(&s, 'v');
	buf_adds(&s, "\nea_set -f mid frag user.inode\n");
	for (unsigned i = 1; i < 380 && strstr(v->options, "ext4"); i += 2)
		buf_addf(&s, "punch frag %u %u\n", i, i);
	for (unsigned i = 0; i < v->names; i++)
		buf_addf(&s, "write empty many/%0100u\n", i);
	snprintf(path, sizeof(path), "%s/script", dir);
	assert_int_equal(buf_write_file(&s, path, &err), 0);
	buf_clear(&s);
	buf_adds(&s, v->then ? v->then : "");
	snprintf(path, sizeof(path), "%s/then", dir);
	assert_int_equal(buf_write_file(&s, path, &err), 0);
	buf_free(&s);
}

static void map_disk(struct disk *d)
{
	struct stat st;
	int fd = open(d->path, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	d->size = st.st_size;
	d->bytes = mmap(NULL, d->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(d->bytes != MAP_FAILED);
	close(fd);
	d->base = must_alloc(d->size);
	memcpy(d->base, d->bytes, d->size);
}

static void make_disk(struct disk *d, const struct variant *v)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	d->variant = v;
	snprintf(d->path, sizeof(d->path), "%s/%s.img", dir, v->name);
	if (!is_wanted(d))
		return;
	write_script(v);
	if (run(&out, "truncate -s %s %s && mke2fs -q -F %s %s", v->size, d->path, v->options,
		d->path))
		fail_msg("%s: %s", v->name, buf_str(&out));
	run(&out, "debugfs -w -f script %s", d->path);
	/* Counts quota and makes htrees, which debugfs does not. */
	if (run(&out, "e2fsck -fyD %s", d->path) > 1 || run(&out, "e2fsck -fn %s", d->path))
		fail_msg("%s: %s", v->name, buf_str(&out));
	if (v->then)
		run(&out, "debugfs -w -f then %s", d->path);
	/* With it, other programs would wait to see whether the disk is mounted elsewhere. */
	if (!strcmp(v->name, "mmp"))
		run(&out, "tune2fs -O mmp %s", d->path);
	map_disk(d);
	if (ondisk_read(&d->map, d->base, d->size, &err))
		fail_msg("%s: %s", v->name, err.text);
	buf_free(&out);
}

static int make_disks(void **state)
{
	variant_wanted = getenv("ASSAY_ONDISK_VARIANT");
	assert_non_null(mkdtemp(dir));
	write_file("empty", 0, 0);
	write_file("small", 6, 0);
	write_file("mid", MID_LEN, 0);
	write_file("big", BIG_LEN, 0);
	write_file("far", 100, 70 << 20); /* behind what two levels of pointers reach */
	for (int i = 0; i < VARIANTS; i++)
		make_disk(&disks[i], &variants[i]);
	return 0;
}

static int remove_disks(void **state)
{
	struct buf out = BUF_INIT;

	for_each_disk(d)
	{
		munmap(d->bytes, d->size);
		free(d->base);
		ondisk_free(&d->map);
	}
	run(&out, "rm -f %s/* && rmdir %s", dir, dir);
	buf_free(&out);
	return 0;
}

#endif
