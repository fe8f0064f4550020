/* kernel_checker.c -- the kernel as a checker: it is given damaged disks, in a process. */
#include "fsck/kernel_checker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "fsck/behaviour.h"
#include "judge/kernel_log.h"
#include "trace/script.h"

/* What is done with a disk that could be mounted: everything that frees, allocates, extends and
 * looks up, on objects of the test disk. */
static const char use_text[] =
	"write_file(\"dir/sparse\", O_WRONLY, data(1, 3000), 3000, 4096)\n"
	"write_file(\"dir/small\", O_WRONLY|O_APPEND, data(2, 9000), 9000, 0)\n"
	"setxattr(\"dir/small\", \"user.new\", data(3, 100), 100, 0)\n"
	"removexattr(\"dir/tiny\", \"user.short\")\n"
	"mkdir(\"new\", 0755)\n"
	"write_file(\"many/new\", O_WRONLY|O_CREAT, data(4, 5000), 5000, 0)\n"
	"rename(\"many/new\", \"new/new\")\n"
	"link(\"dir/single\", \"new/link\")\n"
	"symlink(\"x\", \"new/symlink\")\n"
	"truncate(\"dir/double\", 1000)\n"
	"truncate(\"dir/sparse\", 70000)\n"
	"unlink(\"dir/single\")\n"
	"unlink(\"dir/sparse\")\n"
	"unlink(\"many/a-name-of-some-length-050\")\n"
	"rename(\"dir/sub\", \"new/sub\")\n"
	"rmdir(\"empty\")\n"
	"sync()\n"
	"drop_caches()\n"
	"unlink(\"new/new\")\n"
	"statfs(\"/\")\n";

enum { CALL_FACTOR = 1021 };

/* ---- one disk ---- */

static void test_add_log(struct kernel_checker *k, struct kernel_test *t)
{
	struct target *target = k->disk->target;

	if (target->kind->log)
		target->kind->log(target, &t->log);
}

/* Whether the kernel is wrong. */
static bool test_judge(struct kernel_checker *k, struct kernel_test *t, enum target_fate fate,
		       const char *during)
{
	if (fate == FATE_FINE)
		return false;
	t->fault = fate == FATE_HUNG ? KERNEL_HUNG
		 : fate == FATE_DIED ? KERNEL_CRASHED
				     : KERNEL_COMPLAINS;
	t->during = during;
	test_add_log(k, t);
	kernel_log_first(buf_str(&t->log), t->place);
	return true;
}

static int test_read(struct kernel_checker *k, struct kernel_test *t, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	bool alive = false;
	struct tree tree;
	int r = target_observe(k->disk->target, &tree, &fate, err);

	if (!r && fate == FATE_FINE)
		tree_free(&tree);
	if (!r && fate == FATE_DIED)
		r = target_is_alive(k->disk->target, &alive, err);
	if (!r && !alive)
		test_judge(k, t, fate, "reading");
	return r;
}

static int test_use(struct kernel_checker *k, struct kernel_test *t, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < k->use.count && !r && t->fault == KERNEL_FINE; i++) {
		enum target_fate fate = FATE_FINE;
		struct outcome outcome;

		if (k->use.items[i].type != ITEM_CALL)
			continue;
		r = target_call(k->disk->target, &k->use.items[i].call, &outcome, &fate, err);
		if (!r && !test_judge(k, t, fate, "using"))
			t->calls = t->calls * CALL_FACTOR + (uint64_t)outcome.error;
	}
	return r;
}

static int test_unmount(struct kernel_checker *k, struct kernel_test *t, struct err *err)
{
	struct target *target = k->disk->target;
	enum target_fate fate = FATE_FINE;
	const struct disk_page *pages;
	size_t count;
	int error, r;

	r = target->kind->unmounted_pages(target, &pages, &count, &error, &fate, err);
	if (!r)
		test_judge(k, t, fate, "unmounting");
	return r;
}

/* By what mounting answers, what the calls do, and what the kernel's log has in the end. */
static void checker_note_behaviour(struct kernel_checker *k, const struct kernel_test *t, int error)
{
	struct buf log = BUF_INIT;
	struct hash said, behaviour;
	bool new;

	if (t->fault == KERNEL_FINE && k->disk->target->kind->log)
		k->disk->target->kind->log(k->disk->target, &log);
	said = behaviour_of_text(buf_str(t->fault == KERNEL_FINE ? &log : &t->log));
	behaviour =
		hash128((const uint64_t[]){ (uint64_t)error, t->fault, t->calls, said.lo, said.hi },
			5 * sizeof(uint64_t), 0);
	hash_map_put(&k->behaved, behaviour, &new);
	k->figures.behaviours += new;
	buf_free(&log);
}

static void checker_count(struct kernel_checker *k, const struct kernel_test *t, bool refused)
{
	k->figures.images++;
	k->figures.refused += refused;
	k->figures.mounted += !refused;
	k->figures.crashed += t->fault == KERNEL_CRASHED;
	k->figures.hung += t->fault == KERNEL_HUNG;
	k->figures.alarms += t->fault == KERNEL_COMPLAINS;
}

static int checker_test(struct kernel_checker *k, struct kernel_test *t, struct err *err)
{
	enum target_fate fate = FATE_FINE;
	int error = 0, r = test_disk_mount(k->disk, k->damaged.bytes, &error, &fate, err);

	if (!r && !test_judge(k, t, fate, "mounting") && !error) {
		r = test_read(k, t, err);
		if (!r && t->fault == KERNEL_FINE)
			r = test_use(k, t, err);
		if (!r && t->fault == KERNEL_FINE)
			r = test_unmount(k, t, err);
	}
	if (r)
		kernel_test_free(t);
	else
		checker_count(k, t, error != 0);
	if (!r)
		checker_note_behaviour(k, t, error);
	return r;
}

int kernel_checker_try(struct kernel_checker *k, const struct corruption *c,
		       struct kernel_test *ret, struct err *err)
{
	*ret = (struct kernel_test){ .corruption = *c, .during = "" };
	damaged_disk_set(&k->damaged, c);
	return checker_test(k, ret, err);
}

int kernel_checker_try_disk(struct kernel_checker *k, const uint8_t *disk, struct kernel_test *ret,
			    struct err *err)
{
	*ret = (struct kernel_test){ .during = "" };
	damaged_disk_load(&k->damaged, disk);
	return checker_test(k, ret, err);
}

void kernel_test_free(struct kernel_test *t)
{
	buf_free(&t->log);
}

bool kernel_checker_is_new(struct kernel_checker *k, const struct corruption *c)
{
	bool new;

	damaged_disk_set(&k->damaged, c);
	hash_map_put(&k->seen, damaged_disk_hash(&k->damaged), &new);
	return new;
}

/* ---- the session ---- */

/* Which sectors are read at all: of a format that is not described, only those are damaged. */
static int checker_find_read(struct kernel_checker *k, struct err *err)
{
	struct corruption none = { 0 };
	struct kernel_test t;
	int r = kernel_checker_try(k, &none, &t, err);

	if (r)
		return r;
	if (t.fault != KERNEL_FINE)
		r = err_set(err, EIO, "%s: the disk is not damaged, and the kernel complains: %s",
			    k->disk->target->name, buf_str(&t.log));
	kernel_test_free(&t);
	k->figures = (struct kernel_figures){ 0 };
	if (!r)
		r = k->disk->target->kind->disk_read(k->disk->target, &k->read, err);
	return r;
}

int kernel_checker_open(struct kernel_checker *k, struct test_disk *disk,
			const struct ondisk_map *map, struct err *err)
{
	int r;

	*k = (struct kernel_checker){ .disk = disk };
	if (!disk->target->kind->unmounted_pages || !disk->target->kind->disk_read)
		return err_set(err, ENOTSUP,
			       "%s: only kernels in a process are given damaged disks (kernel:FS)",
			       disk->target->name);
	damaged_disk_init(&k->damaged, map, (const uint8_t *)disk->image.bytes, disk->image.size);
	r = script_parse(&k->use, "use", use_text, strlen(use_text), err);
	if (!r)
		r = checker_find_read(k, err);
	if (r)
		kernel_checker_close(k);
	return r;
}

void kernel_checker_close(struct kernel_checker *k)
{
	damaged_disk_free(&k->damaged);
	hash_map_free(&k->seen);
	hash_map_free(&k->behaved);
	script_free(&k->use);
	buf_free(&k->read);
}
