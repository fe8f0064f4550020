/* op_fd.c -- close, dup, dup2: descriptors by themselves. */
#include "model/internal.h"

enum { FDS_USUAL = 256 }; /* fewer than this a process can always have */

void model_close(struct step *x)
{
	int64_t fd = x->call->close.fd.num;

	/* Whether the first three are still open is not kept. */
	if (fd >= 0 && fd < STATE_FD_FIRST && !state_file(x->state, x->pid, fd)) {
		may_refuse(x, RULE_close_bad_fd);
		return;
	}
	if (need_file(x, &x->call->close.fd, RULE_close_bad_fd) && proceed(x))
		state_close(x->state, x->pid, fd);
}

static void refuse_full_table(struct step *x)
{
	uint64_t most = x->model->traits.fds_max;

	if (most && x->process->fds.count + STATE_FD_FIRST >= most)
		refuse(x, RULE_dup_full);
}

void model_dup(struct step *x)
{
	const struct open_file *f = need_file(x, &x->call->dup.fd, RULE_dup_bad_fd);

	if (!f)
		return;
	refuse_full_table(x);
	if (proceed(x))
		give_num(x, RESULT_FD, state_dup(x->state, x->pid, x->call->dup.fd.num, -1));
}

void model_dup2(struct step *x)
{
	int64_t newfd = x->call->dup2.newfd.num;
	uint64_t most = x->model->traits.fds_max;
	const struct open_file *f = need_file(x, &x->call->dup2.fd, RULE_dup_bad_fd);

	if (newfd < 0 || (most && (uint64_t)newfd >= most))
		refuse(x, RULE_dup2_range);
	else if (!most && newfd >= FDS_USUAL)
		may_refuse(x, RULE_dup2_range);
	if (f && proceed(x))
		give_num(x, RESULT_FD, state_dup(x->state, x->pid, x->call->dup2.fd.num, newfd));
}
