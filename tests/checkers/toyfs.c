/* toyfs.c -- a small disk format with its mkfs, its checker and its faults, to test `assay fsck`.
 *
 *	toyfs mkfs IMAGE | toyfs check IMAGE | toyfs repair[=FAULT] IMAGE | toyfs list IMAGE
 *
 * Blocks of 1 KiB: a superblock, its backup, a bitmap of blocks, a table of files that is also a
 * list, a directory, and from block 8 on the data of files, one block each. Everything but the
 * number of a data block can be restored from something else.
 *
 * Exit codes: 0 clean, 1 repaired, 4 errors left, 8 failed. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	BLOCK = 1024,
	BLOCKS = 64,
	FILES = 16,
	FIRST_DATA = 8,
	END = 0xffff,
	MAGIC = 0x46594f54,
	CLEAN = 0,
	REPAIRED = 1,
	LEFT = 4,
	FAILED = 8,
};

struct super {
	uint32_t magic;
	uint16_t state, file_count;
	uint32_t block_count;
};

struct file {
	uint16_t used, links;
	uint32_t size;
	uint16_t block, next; /* of the list; END */
};

struct name {
	uint16_t file, used;
	uint32_t size; /* of the file, once more */
	char text[24];
};

struct disk {
	_Alignas(BLOCK) struct super super;
	_Alignas(BLOCK) struct super backup;
	_Alignas(BLOCK) uint8_t bitmap[BLOCKS / 8];
	_Alignas(BLOCK) struct file files[FILES];
	_Alignas(BLOCK) struct name names[FILES];
	_Alignas(BLOCK) char unused[FIRST_DATA - 5][BLOCK];
	char data[BLOCKS - FIRST_DATA][BLOCK];
};
_Static_assert(sizeof(struct disk) == BLOCKS * BLOCK, "a disk");

static const char *fault = "";
static unsigned errors;

static bool has_fault(const char *name)
{
	return !strcmp(fault, name);
}

static void complain(const char *what, unsigned number)
{
	printf("%s %u is wrong.\n", what, number);
	errors++;
}

/* ---- reading and writing ---- */

static bool disk_read(const char *path, struct disk *d)
{
	int fd = open(path, O_RDONLY);
	bool read_all = fd >= 0 && pread(fd, d, sizeof(*d), 0) == (ssize_t)sizeof(*d);

	if (fd >= 0)
		close(fd);
	return read_all;
}

static bool disk_write(const char *path, const struct disk *d)
{
	int fd = open(path, O_RDWR);
	bool written = fd >= 0 && pwrite(fd, d, sizeof(*d), 0) == (ssize_t)sizeof(*d) && !fsync(fd);

	if (fd >= 0)
		close(fd);
	return written;
}

static void disk_make(struct disk *d)
{
	memset(d, 0, sizeof(*d));
	d->super = (struct super){ MAGIC, 0, 6, BLOCKS };
	d->backup = d->super;
	for (unsigned i = 0; i < FIRST_DATA + 6; i++)
		d->bitmap[i / 8] |= (uint8_t)(1u << i % 8);
	for (uint16_t i = 0; i < 6; i++) {
		uint16_t next = i < 5 ? i + 1 : END;

		d->files[i] = (struct file){ 1, 1, 100u + i, FIRST_DATA + i, next };
		d->names[i] = (struct name){ .file = i, .used = 1, .size = 100u + i };
		snprintf(d->names[i].text, sizeof(d->names[i].text), "file-%u", i);
		memset(d->data[i], 'a' + i, 100u + i);
	}
}

/* ---- checking ---- */

static bool super_is_right(const struct super *s)
{
	return s->magic == MAGIC && s->block_count == BLOCKS;
}

static bool check_supers(struct disk *d)
{
	if (!super_is_right(&d->super)) {
		if (!super_is_right(&d->backup))
			return false;
		complain("superblock", 0);
		d->super = d->backup;
	}
	if (d->super.state > 1) {
		complain("state", d->super.state);
		d->super.state = 0;
	}
	return true;
}

static void check_backup(struct disk *d)
{
	if (!memcmp(&d->super, &d->backup, sizeof(d->super)))
		return;
	complain("backup superblock", 0);
	if (!has_fault("backup"))
		d->backup = d->super;
}

/* What the directory knows of a file; NULL: nothing. */
static struct name *name_of(struct disk *d, unsigned file)
{
	for (unsigned i = 0; i < FILES; i++)
		if (d->names[i].used == 1 && d->names[i].file == file)
			return &d->names[i];
	return NULL;
}

static void check_names(struct disk *d)
{
	for (unsigned i = 0; i < FILES; i++) {
		struct name *n = &d->names[i];

		if (n->used > 1) {
			complain("name", i);
			n->used = n->file < FILES && n->text[0];
		}
		if (!n->used)
			continue;
		/* Indexes the table by what is on the disk. */
		if (has_fault("segv") || has_fault("catch"))
			errors += ((volatile struct file *)d->files)[n->file * 64u].used > 1;
		if (n->file >= FILES) {
			complain("file of name", i);
			n->used = 0;
			continue;
		}
		if (!n->text[0] || !memchr(n->text, 0, sizeof(n->text))) {
			complain("text of name", i);
			snprintf(n->text, sizeof(n->text), "lost-%u", i);
		}
	}
}

/* One name is enough: the second goes. */
static void check_doubled_names(struct disk *d)
{
	for (unsigned i = 0; i < FILES; i++)
		if (d->names[i].used && name_of(d, d->names[i].file) != &d->names[i]) {
			complain("second name", i);
			d->names[i].used = 0;
		}
}

static void check_used(struct disk *d, unsigned i)
{
	struct file *f = &d->files[i];
	struct name *n = name_of(d, i);

	if (f->used <= 1 && (f->used || !n))
		return;
	complain("file", i);
	if (has_fault("clear") && n)
		n->used = 0;
	f->used = n && !has_fault("clear");
}

static void check_file(struct disk *d, unsigned i)
{
	struct file *f = &d->files[i];
	struct name *n;

	check_used(d, i);
	if (!f->used)
		return;
	n = name_of(d, i);
	if (!n) { /* a file without a name gets one */
		complain("name of file", i);
		for (n = d->names; n->used; n++)
			;
		*n = (struct name){ .file = (uint16_t)i, .used = 1, .size = f->size };
		snprintf(n->text, sizeof(n->text), "lost-%u", i);
	}
	if (f->block < FIRST_DATA || f->block >= BLOCKS) {
		complain("block of file", i);
		if (has_fault("invent")) {
			f->block = FIRST_DATA;
		} else { /* nobody else knows it */
			f->used = 0;
			n->used = 0;
			return;
		}
	}
	if (f->links != 1) {
		complain("links of file", i);
		f->links = has_fault("half") ? (uint16_t)(f->links / 2) : 1;
	}
	if (f->size > BLOCK) {
		complain("size of file", i);
		f->size = n->size <= BLOCK ? n->size : BLOCK;
	}
	if (n->size != f->size) {
		complain("size in name of file", i);
		n->size = f->size;
	}
}

/* One that no file has; there are more blocks than files. */
static uint16_t free_block(const struct disk *d)
{
	for (uint16_t block = FIRST_DATA;; block++) {
		bool used = false;

		for (unsigned i = 0; i < FILES; i++)
			used |= d->files[i].used && d->files[i].block == block;
		if (!used)
			return block;
	}
}

/* Two files with one block: it is not known whose it is, and the second gets a copy. */
static void check_shared_blocks(struct disk *d)
{
	for (unsigned i = 0; i < FILES; i++)
		for (unsigned k = 0; k < i && d->files[i].used; k++)
			if (d->files[k].used && d->files[k].block == d->files[i].block) {
				uint16_t to = free_block(d);

				complain("shared block of file", i);
				memcpy(d->data[to - FIRST_DATA],
				       d->data[d->files[i].block - FIRST_DATA], BLOCK);
				d->files[i].block = to;
			}
}

/* The list of files in use, in order. */
static void check_list(struct disk *d)
{
	uint16_t next = END;

	if (has_fault("loop")) {
		unsigned length = 0;

		for (uint16_t i = 0; i != END; i = d->files[i % FILES].next)
			length++;
		printf("%u files\n", length);
	}
	for (unsigned i = FILES; i-- > 0;) {
		if (!d->files[i].used)
			continue;
		if (d->files[i].next != next) {
			complain("list of files at", i);
			d->files[i].next = next;
		}
		next = (uint16_t)i;
	}
}

static void check_counts(struct disk *d)
{
	uint8_t bitmap[BLOCKS / 8] = { 0 };
	uint16_t count = 0;

	bitmap[0] = 0xff; /* what comes before the data */
	for (unsigned i = 0; i < FILES; i++)
		if (d->files[i].used) {
			bitmap[d->files[i].block / 8] |= (uint8_t)(1u << d->files[i].block % 8);
			count++;
		}
	if (memcmp(bitmap, d->bitmap, sizeof(bitmap)) != 0) {
		complain("bitmap", 0);
		memcpy(d->bitmap, bitmap, sizeof(bitmap));
	}
	if (d->super.file_count != count) {
		complain("number of files", d->super.file_count);
		d->super.file_count = count;
	}
}

static bool check(struct disk *d)
{
	if (!check_supers(d))
		return false;
	check_names(d);
	check_doubled_names(d);
	for (unsigned i = 0; i < FILES; i++)
		check_file(d, i);
	check_shared_blocks(d);
	check_list(d);
	check_counts(d);
	check_backup(d);
	return true;
}

/* ---- commands ---- */

static double cpu_seconds(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/* No hang: less than the second that a run may take, half of it in the kernel. */
static void take_time(void)
{
	static char zeros[1 << 20];
	int fd = open("/dev/zero", O_RDONLY);
	double began = cpu_seconds();

	while (cpu_seconds() < began + 0.25 && read(fd, zeros, sizeof(zeros)) > 0)
		;
	while (cpu_seconds() < began + 0.5)
		for (volatile unsigned i = 0; i < 100000; i++)
			;
	close(fd);
}

static int run_check(const char *path, bool repairs)
{
	/* Shared by all copies, where a process is copied when it opens the disk. */
	unsigned *runs = mmap(NULL, sizeof(*runs), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct disk d;

	if (!disk_read(path, &d))
		return FAILED;
	if (has_fault("once") && ++*runs == 40)
		abort();
	if (has_fault("slow"))
		take_time();
	if (!check(&d)) {
		printf("no superblock is right\n");
		return FAILED;
	}
	if (!errors || (!repairs && has_fault("blind")))
		return CLEAN;
	if (!repairs && !has_fault("check-writes"))
		return LEFT;
	if (!disk_write(path, &d))
		return FAILED;
	return repairs ? REPAIRED : LEFT;
}

/* A name may hold any character. Those that end a name or a line of the list are escaped. */
static void print_name(const struct name *n)
{
	putchar('/');
	for (size_t i = 0; i < sizeof(n->text) && n->text[i]; i++)
		if (n->text[i] == '\t' || n->text[i] == '\n' || n->text[i] == '\\')
			printf("\\%03o", n->text[i]);
		else
			putchar(n->text[i]);
}

static void print_file(const struct file *f, const struct name *n, const char *data)
{
	print_name(n);
	printf("\t%u ", f->size);
	for (uint32_t i = 0; i < f->size; i++)
		putchar(data[i] ? data[i] : '0');
	putchar('\n');
}

/* A line for each file: its name, and what somebody who reads it gets. */
static int run_list(const char *path)
{
	struct disk d;

	if (!disk_read(path, &d))
		return FAILED;
	for (unsigned i = 0; i < FILES; i++) {
		const struct file *f = &d.files[i];
		const struct name *n = name_of(&d, i);

		if (f->used == 1 && n && f->block >= FIRST_DATA && f->block < BLOCKS &&
		    f->size <= BLOCK)
			print_file(f, n, d.data[f->block - FIRST_DATA]);
	}
	return 0;
}

static void give_up(int number)
{
	exit(FAILED);
}

int main(int argc, char **argv)
{
	struct disk d;

	if (argc != 3)
		return FAILED;
	if (strchr(argv[1], '=')) {
		fault = strchr(argv[1], '=') + 1;
		*strchr(argv[1], '=') = '\0';
	}
	if (has_fault("catch"))
		signal(SIGSEGV, give_up);
	if (!strcmp(argv[1], "mkfs")) {
		disk_make(&d);
		return disk_write(argv[2], &d) ? 0 : FAILED;
	}
	if (!strcmp(argv[1], "list"))
		return run_list(argv[2]);
	return run_check(argv[2], !strcmp(argv[1], "repair"));
}
