/* op_process.c -- working directory, mask, processes, users; persistence and the environment. */
#include "model/attr.h"
#include "model/io.h"

static void change_directory(struct step *x, const struct inode *inode)
{
	if (!inode)
		return;
	if (!S_ISDIR(inode->mode))
		refuse(x, RULE_chdir_kind);
	else if (!may_access(x, inode, MAY_EXEC))
		refuse(x, RULE_chdir_denied);
	if (proceed(x))
		state_set_cwd(x->state, x->pid, inode->ino);
}

void model_chdir(struct step *x)
{
	change_directory(x, need_object(x, AT_FDCWD, &x->call->chdir.path, WALK_FOLLOW));
}

void model_fchdir(struct step *x)
{
	change_directory(x, need_open_object(x, &x->call->fchdir.fd, true));
}

void model_umask(struct step *x)
{
	if (!proceed(x))
		return;
	give_num(x, RESULT_PERM, x->process->umask);
	state_edit_process(x->state, x->pid)->umask = (uint32_t)x->call->umask.mask.num & 0777;
}

static bool is_id_argument(const struct arg *arg)
{
	return arg->num >= 0 && arg->num < UINT32_MAX;
}

void model_create_process(struct step *x)
{
	const struct arg *uid = &x->call->create_process.uid, *gid = &x->call->create_process.gid;

	if (x->process)
		refuse(x, RULE_process_exists);
	if (!is_id_argument(uid) || !is_id_argument(gid))
		refuse(x, RULE_process_id);
	if (proceed(x))
		state_create_process(x->state, x->pid, (uint32_t)uid->num, (uint32_t)gid->num);
}

void model_destroy_process(struct step *x)
{
	if (proceed(x))
		state_destroy_process(x->state, x->pid);
}

void model_add_user_to_group(struct step *x)
{
	const struct arg *uid = &x->call->add_user_to_group.uid;
	const struct arg *gid = &x->call->add_user_to_group.gid;

	if (!is_id_argument(uid) || !is_id_argument(gid))
		refuse(x, RULE_process_id);
	if (proceed(x))
		state_add_group(x->state, (uint32_t)uid->num, (uint32_t)gid->num);
}

/* Persistence changes nothing that can be seen before a crash. */
static void sync_file(struct step *x, const struct arg *fd)
{
	const struct open_file *f = need_io(x, fd);

	if (f && is_special(file_inode(x, f)))
		refuse(x, RULE_sync_special);
}

void model_fsync(struct step *x)
{
	sync_file(x, &x->call->fsync.fd);
}

void model_fdatasync(struct step *x)
{
	sync_file(x, &x->call->fdatasync.fd);
}

void model_sync(struct step *x)
{
}

void model_syncfs(struct step *x)
{
	if (leave_open(x, RULE_call_of_linux))
		return;
	need_io(x, &x->call->syncfs.fd);
}

/* No process has an open file, and all are in the root directory. */
static void reset_processes(struct step *x)
{
	uint64_t pid;

	for (bool first = true; pmap_next(&x->state->processes, first, &pid); first = false)
		state_reset_process(x->state, (unsigned)pid);
	state_drop_tails(x->state);
}

/* Unmounted and mounted again. */
void model_remount(struct step *x)
{
	if (proceed(x))
		reset_processes(x);
}

void model_drop_caches(struct step *x)
{
}

void model_advance_time(struct step *x)
{
	int64_t ms = x->call->advance_time.duration.num;

	if (ms < 0 || ms > ADVANCE_MAX_MS)
		refuse(x, RULE_advance_range);
	if (proceed(x))
		state_pass_time(x->state, ms * 1000000);
}

void model_wait(struct step *x)
{
	int64_t ms = x->call->wait.duration.num;

	if (ms < 0 || ms > WAIT_MAX_MS)
		refuse(x, RULE_wait_range);
	if (proceed(x))
		state_pass_time(x->state, ms * 1000000);
}

/* The nth of its sort is to fail within the next call. */
static void step_fail_nth(struct step *x, unsigned sort, const struct arg *nth)
{
	uint16_t *slot = x->state->failing[sort];

	if (nth->num < 1 || nth->num > UINT16_MAX)
		refuse(x, RULE_fail_number);
	else if (slot[0] && slot[1])
		refuse(x, RULE_fail_full);
	if (proceed(x))
		slot[slot[0] != 0] = (uint16_t)nth->num;
}

void model_fail_alloc(struct step *x)
{
	step_fail_nth(x, FAIL_ALLOC, &x->call->fail_alloc.nth);
}

void model_fail_read(struct step *x)
{
	step_fail_nth(x, FAIL_READ, &x->call->fail_read.nth);
}

void model_fail_write(struct step *x)
{
	step_fail_nth(x, FAIL_WRITE, &x->call->fail_write.nth);
}

/* It is done on a copy of the file system. */
void model_seek_leaks(struct step *x)
{
}

/* A healthy file system has nothing that its checker complains of. */
void model_fsck(struct step *x)
{
	if (proceed(x) && x->model->traits.checks_unmounted)
		reset_processes(x);
}

/* Nothing is lost. */
void model_seek_space(struct step *x)
{
	if (!proceed(x))
		return;
	give_bytes(x, RESULT_BYTES, 0, 0);
	if (x->model->traits.checks_unmounted)
		reset_processes(x);
}
