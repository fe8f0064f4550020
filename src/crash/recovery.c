/* recovery.c -- a crash disk is mounted, and what is there then. */
#include "crash/recovery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "storage/program.h"
#include "target/description.h"
#include "tree/list.h"

/* Results that are kept; beyond that all are forgotten at once. */
enum { RESULTS_MAX = 1 << 15, REPAIR_SECONDS = 20 };

const char *const recovery_end_names[RECOVERY_ENDS] = {
	[RECOVERY_FINE] = "fine",
	[RECOVERY_REFUSED] = "cannot be mounted",
	[RECOVERY_DIED] = "crash",
	[RECOVERY_HUNG] = "hang",
	[RECOVERY_UNREADABLE] = "cannot be read",
	[RECOVERY_ALARM] = "kernel log",
	[RECOVERY_UNUSABLE] = "unusable",
	[RECOVERY_UNSTABLE] = "unstable",
	[RECOVERY_DAMAGED] = "damaged",
	[RECOVERY_UNREPAIRED] = "not repaired",
	[RECOVERY_DISAGREES] = "fsck recovers something else",
	[RECOVERY_INTERRUPTED] = "crash during recovery",
	[RECOVERY_REPAIR_INTERRUPTED] = "crash during repair",
};
const char *const recovery_end_sentences[RECOVERY_ENDS] = {
	[RECOVERY_FINE] = "the file system recovers",
	[RECOVERY_REFUSED] = "the file system cannot be mounted",
	[RECOVERY_DIED] = "mounting or reading the file system crashes the kernel or the daemon",
	[RECOVERY_UNREADABLE] = "the root directory cannot be read",
	[RECOVERY_HUNG] = "mounting or reading the file system does not end",
	[RECOVERY_ALARM] = "the kernel log has a complaint",
	[RECOVERY_UNUSABLE] = "the recovered file system cannot be used",
	[RECOVERY_UNSTABLE] = "the recovered file system changes when it is mounted again",
	[RECOVERY_DAMAGED] = "the checker finds an error in the recovered file system",
	[RECOVERY_UNREPAIRED] = "the checker does not repair the file system",
	[RECOVERY_DISAGREES] = "mounting the file system and repairing it give different trees",
	[RECOVERY_INTERRUPTED] = "recovery that is interrupted and repeated gives another tree",
	[RECOVERY_REPAIR_INTERRUPTED] =
		"a repair by the checker that is interrupted and repeated gives another tree",
};

/* The checker can recover what was not unmounted. A description says by an empty command that it
 * cannot, where its base can. */
static bool recovery_repairs_dirty(const struct recovery *r)
{
	const char *repair = r->target->description->repair;

	return repair && *repair;
}

const char *recovery_repair_command(const struct recovery *r)
{
	const struct target_description *d = r->target->description;

	return recovery_repairs_dirty(r) ? d->repair : d->repair_unmounted;
}

int recovery_open(struct recovery *r, struct target *t, enum sanity sanity, bool keeps_log,
		  struct err *err)
{
	struct buf log = BUF_INIT;
	int image_fd = -1, ret;
	off_t size;

	*r = (struct recovery){ .target = t, .sanity = sanity, .keeps_log = keeps_log };
	r->base.fd = r->stage.fd = r->recorded.fd = r->recorded.disk.connection_fd = -1;
	ret = t->kind->recorded(t, &image_fd, &log, err);
	buf_free(&log);
	size = ret ? 0 : lseek(image_fd, 0, SEEK_END);
	if (!ret && size < 0)
		ret = err_sys(err, errno, "cannot read the image of %s", t->name);
	if (!ret)
		ret = image_make(&r->base, (uint64_t)size, err);
	if (!ret)
		ret = image_make(&r->stage, (uint64_t)size, err);
	if (!ret)
		ret = image_fill(&r->base, image_fd, err);
	if (!ret)
		ret = image_fill(&r->stage, image_fd, err);
	if (!ret && keeps_log && recovery_repair_command(r) && recorded_image_possible())
		ret = recorded_image_open(&r->recorded, &r->stage, err);
	if (ret)
		recovery_close(r);
	return ret;
}

static void recovered_free(struct recovered *r)
{
	buf_free(&r->text);
	buf_free(&r->log);
	if (r->has_tree)
		tree_free(&r->tree);
}

void recovery_forget(struct recovery *r)
{
	for (size_t i = 0; i < r->count; i++)
		recovered_free(&r->results[i]);
	r->count = 0;
	hash_map_free(&r->memo);
	hash_map_free(&r->repaired);
	r->memo = r->repaired = (struct hash_map)HASH_MAP_INIT;
	read_memo_free(&r->reads);
}

void recovery_close(struct recovery *r)
{
	recovery_forget(r);
	recovered_free(&r->not_repaired);
	free(r->results);
	hash_map_free(&r->memo);
	hash_map_free(&r->trees);
	page_disk_free(&r->staged);
	recorded_image_close(&r->recorded);
	image_free(&r->base);
	image_free(&r->stage);
}

/* Only what differs from what lies there is written, unless a checker wrote there. */
static void recovery_stage(struct recovery *r, const struct page_disk *d)
{
	if (r->stage_repaired)
		memcpy(r->stage.bytes, r->base.bytes, r->base.size);
	r->stage_repaired = false;
	for (size_t i = 0; i < r->staged.count; i++) {
		uint64_t at = r->staged.differences[i].page * PAGE_DISK_PAGE;

		memcpy(r->stage.bytes + at, r->base.bytes + at, PAGE_DISK_PAGE);
	}
	for (size_t i = 0; i < d->count; i++)
		memcpy(r->stage.bytes + d->differences[i].page * PAGE_DISK_PAGE,
		       d->differences[i].content->bytes, PAGE_DISK_PAGE);
	page_disk_free(&r->staged);
	r->staged = page_disk_copy(d);
}

static void recovered_add_log(struct recovered *ret, struct target *t)
{
	if (t->kind->log)
		t->kind->log(t, &ret->text);
}

/* Whether it ended in another fate than fine. */
static bool recovered_by_fate(struct recovered *ret, struct target *t, enum target_fate fate)
{
	if (fate == FATE_FINE)
		return false;
	ret->end = fate == FATE_HUNG ? RECOVERY_HUNG
		 : fate == FATE_DIED ? RECOVERY_DIED
				     : RECOVERY_ALARM;
	recovered_add_log(ret, t);
	return true;
}

/* A call that must succeed on any file system that is not full; *ret_full: it is. */
static int recovery_use(struct recovery *r, struct recovered *ret, enum op op, const char *path,
			bool *ret_full, struct err *err)
{
	struct call c = { .op = (uint16_t)op, .pid = 1 };
	enum target_fate fate = FATE_FINE;
	struct outcome outcome;
	int status;

	c.arg[0] = (struct arg){ .text = path, .len = (uint32_t)strlen(path) };
	c.arg[1].num = op == OP_mkdir ? 0755 : 0;
	if (op == OP_mknod)
		c.mknod.mode.num = S_IFREG | 0644;
	status = target_call(r->target, &c, &outcome, &fate, err);
	if (status || recovered_by_fate(ret, r->target, fate))
		return status;
	*ret_full = outcome.error == ENOSPC || outcome.error == EDQUOT;
	if (outcome.error && !*ret_full) {
		ret->end = RECOVERY_UNUSABLE;
		buf_addf(&ret->text, "%s(\"%s\") returns %s", op_table[op].name, path,
			 errno_name(outcome.error));
	}
	return 0;
}

/* In every directory something can be made and removed. */
static int recovery_use_all(struct recovery *r, struct recovered *ret, struct err *err)
{
	static const enum op ops[] = { OP_mknod, OP_unlink, OP_mkdir, OP_rmdir };
	struct path_list list = { 0 };
	struct buf path = BUF_INIT;
	bool full;
	int status = 0;

	path_list_make(&list, &ret->tree);
	for (size_t i = 0; i < list.count && !status && ret->end == RECOVERY_FINE; i++) {
		if (!S_ISDIR(list.items[i].inode->mode) || list.items[i].inode->flags)
			continue;
		buf_clear(&path);
		add_item_path(&path, &list, i);
		buf_addf(&path, "%sassay-new", path.len > 1 ? "/" : "");
		full = false;
		for (unsigned o = 0;
		     o < ARRAY_LEN(ops) && !status && !full && ret->end == RECOVERY_FINE; o++)
			status = recovery_use(r, ret, ops[o], path.data, &full, err);
	}
	buf_free(&path);
	path_list_free(&list);
	return status;
}

/* Mounted again, it is the same. */
static int recovery_mount_again(struct recovery *r, struct recovered *ret, struct err *err)
{
	const struct call c = { .op = OP_remount, .pid = 1 };
	enum target_fate fate = FATE_FINE;
	struct outcome outcome;
	struct tree tree;
	int status;

	if (!(r->target->caps & TARGET_REMOUNT))
		return 0;
	status = target_call(r->target, &c, &outcome, &fate, err);
	if (status || recovered_by_fate(ret, r->target, fate))
		return status;
	if (outcome.error) {
		ret->end = RECOVERY_UNSTABLE;
		buf_addf(&ret->text, "mounting it again fails: %s", errno_name(outcome.error));
		return 0;
	}
	status = target_observe(r->target, &tree, &fate, err);
	if (status || recovered_by_fate(ret, r->target, fate))
		return status;
	if (!hash_equal(tree_hash(&tree), tree_hash(&ret->tree))) {
		ret->end = RECOVERY_UNSTABLE;
		tree_diff(&ret->tree, &tree, 5, &ret->text);
	}
	tree_free(&tree);
	return 0;
}

static int recovery_fsck(struct recovery *r, struct recovered *ret, struct err *err)
{
	struct buf report = BUF_INIT;
	enum verdict verdict;
	int status;

	if (!(r->target->caps & TARGET_FSCK))
		return 0;
	status = target_fsck(r->target, &verdict, &report, err);
	if (!status && verdict == VERDICT_BAD) {
		ret->end = RECOVERY_DAMAGED;
		buf_adds(&ret->text, buf_str(&report));
	}
	buf_free(&report);
	return status;
}

/* The checker repairs the staged disk, in a file that may be recorded; its exit status does not
 * matter, what is mounted does. */
static int recovery_repair(struct recovery *r, int image_fd, struct recovered *ret, struct err *err)
{
	struct program_value value = { "image", PROGRAM_FD_PATH };
	struct buf command = BUF_INIT, output = BUF_INIT;
	int code = 0, failed;

	program_fill(&command, recovery_repair_command(r), &value, 1);
	failed = program_run(command.data, image_fd, REPAIR_SECONDS, &code, &output, err);
	if (failed == -ETIME || code >= 128) {
		ret->end = RECOVERY_UNREPAIRED;
		buf_addf(&ret->text, "%s: %s\n%s", command.data,
			 failed ? "it does not end" : "it is killed by a signal", buf_str(&output));
		if (failed)
			*err = (struct err){ 0 };
		failed = 0;
	}
	r->stage_repaired = true;
	r->repairs++;
	buf_free(&command);
	buf_free(&output);
	return failed;
}

/* The disk, as the pages that differ; NULL: what is staged. */
static int recovery_load(struct recovery *r, const struct page_disk *d, int *ret_error,
			 enum target_fate *ret_fate, struct err *err)
{
	struct target *t = r->target;
	struct page_change *pages;
	int status;

	r->last_was_staged = !d || !t->kind->load_pages;
	if (r->last_was_staged)
		return t->kind->load(t, r->stage.fd, ret_error, ret_fate, err);
	pages = must_alloc((d->count + 1) * sizeof(*pages));
	for (size_t i = 0; i < d->count; i++)
		pages[i] = (struct page_change){ d->differences[i].page,
						 d->differences[i].content->bytes };
	status = t->kind->load_pages(t, pages, d->count, ret_error, ret_fate, err);
	free(pages);
	return status;
}

/* Mounts the disk, or what is staged, and observes it; the end says whether that could be done. */
static int recovery_mount(struct recovery *r, const struct page_disk *d, struct recovered *ret,
			  struct err *err)
{
	enum target_fate fate = FATE_FINE;
	struct target *t = r->target;
	bool alive = false;
	int status = recovery_load(r, d, &ret->error, &fate, err), image_fd;

	if (status || recovered_by_fate(ret, t, fate))
		return status;
	if (ret->error) {
		ret->end = RECOVERY_REFUSED;
		buf_addf(&ret->text, "mount: %s", errno_name(ret->error));
		recovered_add_log(ret, t);
		return 0;
	}
	ret->has_log = r->keeps_log;
	if (r->keeps_log)
		status = t->kind->recorded(t, &image_fd, &ret->log, err);
	if (!status)
		status = target_observe(t, &ret->tree, &fate, err);
	if (!status && fate == FATE_DIED)
		status = target_is_alive(t, &alive, err);
	if (alive) {
		ret->end = RECOVERY_UNREADABLE;
		recovered_add_log(ret, t);
		return 0;
	}
	if (status || recovered_by_fate(ret, t, fate))
		return status;
	ret->has_tree = true;
	return 0;
}

/* What mounting recovers, the checker recovers as well. */
static int recovery_compare_repair(struct recovery *r, const struct page_disk *d,
				   struct recovered *ret, struct err *err)
{
	struct recovered repaired = { 0 };
	int status;

	if (r->target->traits.crash_needs_fsck || !recovery_repairs_dirty(r))
		return 0;
	recovery_stage(r, d);
	status = recovery_repair(r, r->stage.fd, &repaired, err);
	if (!status && repaired.end == RECOVERY_FINE)
		status = recovery_mount(r, NULL, &repaired, err);
	if (!status && repaired.end != RECOVERY_FINE) {
		ret->end = RECOVERY_DISAGREES;
		buf_addf(&ret->text, "after the repair, %s\n%s",
			 recovery_end_sentences[repaired.end], buf_str(&repaired.text));
	} else if (!status && !hash_equal(tree_hash(&repaired.tree), tree_hash(&ret->tree))) {
		ret->end = RECOVERY_DISAGREES;
		buf_adds(&ret->text, "compared with what mounting recovers, after the repair:\n");
		tree_diff(&ret->tree, &repaired.tree, 5, &ret->text);
	}
	recovered_free(&repaired);
	return status;
}

/* What a tree is known by, as one that was checked. */
static struct hash recovery_tree_key(const struct recovery *r, const struct tree *tree)
{
	return hash_add(tree_hash(tree), r->behind);
}

static bool recovery_wants_check(const struct recovery *r, const struct tree *tree)
{
	struct hash key = recovery_tree_key(r, tree);

	if (r->sanity != SANITY_NEW || r->unsound)
		return r->sanity == SANITY_ALL && !r->unsound;
	if (!r->checks_next && r->check_one_in && key.lo % r->check_one_in)
		return false;
	return !hash_map_get(&r->trees, key);
}

/* What is done to a file system that was recovered. */
static int recovery_check(struct recovery *r, const struct page_disk *d, struct recovered *ret,
			  struct err *err)
{
	int status;

	if (!recovery_wants_check(r, &ret->tree))
		return 0;
	hash_map_put(&r->trees, recovery_tree_key(r, &ret->tree), NULL);
	r->checked++;
	ret->checked = true;
	status = recovery_mount_again(r, ret, err);
	if (!status && ret->end == RECOVERY_FINE)
		status = recovery_use_all(r, ret, err);
	if (!status && ret->end == RECOVERY_FINE)
		status = recovery_fsck(r, ret, err);
	if (!status && ret->end == RECOVERY_FINE)
		status = recovery_compare_repair(r, d, ret, err);
	return status;
}

static int recovery_run(struct recovery *r, const struct page_disk *d, struct recovered *ret,
			struct err *err)
{
	bool repairs = r->target->traits.crash_needs_fsck && r->target->description->repair;
	int status = 0;

	if (repairs || !r->target->kind->load_pages)
		recovery_stage(r, d);
	if (repairs)
		status = recovery_repair(r, r->stage.fd, ret, err);
	if (!status && ret->end == RECOVERY_FINE)
		status = recovery_mount(r, repairs ? NULL : d, ret, err);
	if (!status && ret->end == RECOVERY_FINE)
		status = recovery_check(r, d, ret, err);
	return status;
}

/* Another disk with the same bytes in the sectors that were read gives the same. Not where more was
 * done than mounting and reading: a checker reads what no recovery does. */
static int recovery_remember_reads(struct recovery *r, const struct page_store *s,
				   const struct page_disk *d, struct err *err)
{
	const struct target_kind *kind = r->target->kind;
	struct buf sectors = BUF_INIT;
	int status;

	if (!kind->disk_read || r->sanity == SANITY_ALL || r->keeps_log || r->last_was_staged ||
	    r->results[r->count - 1].end != RECOVERY_FINE)
		return 0;
	status = kind->disk_read(r->target, &sectors, err);
	if (!status)
		read_memo_put(&r->reads, s, d, (const unsigned char *)buf_str(&sectors),
			      sectors.len, r->count);
	buf_free(&sectors);
	return status;
}

/* The index of a result that is known, + 1; 0: none is. */
static uint64_t recovery_known(struct recovery *r, const struct page_store *s,
			       const struct page_disk *d)
{
	const uint64_t *same = hash_map_get(&r->memo, d->hash);
	uint64_t alike = same ? *same : read_memo_get(&r->reads, s, d);

	if (!same && alike) {
		*hash_map_put(&r->memo, d->hash, NULL) = alike;
		r->memo_hits++;
	}
	return alike;
}

/* What is known has all that is wanted now. */
static bool recovery_suffices(const struct recovery *r, const struct recovered *known)
{
	if (known->end != RECOVERY_FINE)
		return true;
	return (known->has_log || !r->keeps_log) &&
	       (known->checked || !r->checks_next || !recovery_wants_check(r, &known->tree));
}

int recovery_of(struct recovery *r, const struct page_store *s, const struct page_disk *d,
		const struct recovered **ret, struct err *err)
{
	uint64_t known = recovery_known(r, s, d);
	int status;

	if (known && recovery_suffices(r, &r->results[known - 1])) {
		*ret = &r->results[known - 1];
		return 0;
	}
	if (r->count == RESULTS_MAX)
		recovery_forget(r);
	if (r->count == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->results = must_realloc(r->results, r->cap * sizeof(*r->results));
	}
	r->results[r->count] = (struct recovered){ 0 };
	status = recovery_run(r, d, &r->results[r->count], err);
	if (status) {
		recovered_free(&r->results[r->count]);
		return status;
	}
	r->recoveries++;
	*ret = &r->results[r->count++];
	*hash_map_put(&r->memo, d->hash, NULL) = r->count;
	return recovery_remember_reads(r, s, d, err);
}

/* ---- by the checker ---- */

bool recovery_records_repair(const struct recovery *r)
{
	return r->recorded.fd >= 0;
}

static struct page_disk recovery_take_image(struct recovery *r, struct page_store *s,
					    const struct image *image)
{
	struct page_disk d = { 0 };

	must(image->size == r->base.size);
	for (uint64_t at = 0; at < image->size; at += PAGE_DISK_PAGE)
		if (memcmp(image->bytes + at, r->base.bytes + at, PAGE_DISK_PAGE))
			page_disk_write(s, &d, at, image->bytes + at, PAGE_DISK_PAGE);
	return d;
}

/* What is staged, as a disk; which is staged from now on. */
static struct page_disk recovery_take_stage(struct recovery *r, struct page_store *s)
{
	struct page_disk d = recovery_take_image(r, s, &r->stage);

	page_disk_free(&r->staged);
	r->staged = page_disk_copy(&d);
	r->stage_repaired = false;
	return d;
}

int recovery_prepare_repair(struct recovery *r, struct page_store *s, struct page_disk *d,
			    struct err *err)
{
	enum target_fate fate = FATE_FINE;
	struct recovered mounted = { 0 };
	struct image image = { .fd = -1 };
	int status, error = 0;

	if (recovery_repairs_dirty(r))
		return 1;
	if (!r->target->kind->load_pages)
		recovery_stage(r, d);
	status = recovery_mount(r, d, &mounted, err);
	if (!status && mounted.end == RECOVERY_FINE)
		status = r->target->kind->unmounted_disk(r->target, &image, &error, &fate, err);
	if (!status && mounted.end == RECOVERY_FINE && !error && fate == FATE_FINE) {
		page_disk_free(d);
		*d = recovery_take_image(r, s, &image);
		image_free(&image);
		status = 1;
	}
	recovered_free(&mounted);
	return status;
}

/* Repairs the disk, and makes it another one; the end says whether that could be done. */
static int recovery_repair_disk(struct recovery *r, struct page_store *s, struct page_disk *d,
				struct buf *log, struct recovered *ret, struct err *err)
{
	int status;

	recovery_stage(r, d);
	if (log)
		recorded_image_begin(&r->recorded);
	status = recovery_repair(r, log ? r->recorded.fd : r->stage.fd, ret, err);
	if (!status && log)
		status = recorded_image_copy(&r->recorded, log, err);
	page_disk_free(d);
	*d = recovery_take_stage(r, s);
	return status;
}

int recovery_of_repaired(struct recovery *r, struct page_store *s, const struct page_disk *d,
			 struct buf *log, const struct recovered **ret, struct err *err)
{
	const uint64_t *known = log ? NULL : hash_map_get(&r->repaired, d->hash);
	struct page_disk repaired;
	int status;

	if (known) {
		*ret = &r->results[*known - 1];
		return 0;
	}
	if (!log && r->target->traits.crash_needs_fsck)
		return recovery_of(r, s, d, ret, err);
	recovered_free(&r->not_repaired);
	r->not_repaired = (struct recovered){ 0 };
	repaired = page_disk_copy(d);
	status = recovery_repair_disk(r, s, &repaired, log, &r->not_repaired, err);
	if (!status && r->not_repaired.end != RECOVERY_FINE)
		*ret = &r->not_repaired;
	else if (!status)
		status = recovery_of(r, s, r->target->traits.crash_needs_fsck ? d : &repaired, ret,
				     err);
	if (!status && *ret != &r->not_repaired)
		*hash_map_put(&r->repaired, d->hash, NULL) = (uint64_t)(*ret - r->results) + 1;
	page_disk_free(&repaired);
	return status;
}

int recovery_write_image(struct recovery *r, const struct page_disk *d, const char *path,
			 struct err *err)
{
	recovery_stage(r, d);
	return image_write(&r->stage, path, err);
}
