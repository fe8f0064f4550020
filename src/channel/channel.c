/* channel.c -- shared memory between a sandbox and its owner, and whose turn it is. */
#include "channel/channel.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "op/kind.h"

/* More than this, touched by one large call, is given back. */
enum { TEXT_KEPT = 1 << 20 };

struct channel *channel_new(struct err *err)
{
	struct channel *b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (b == MAP_FAILED) {
		err_sys(err, errno, "cannot share memory");
		return NULL;
	}
	return b;
}

void channel_free(struct channel *b)
{
	if (b)
		munmap(b, sizeof(*b));
}

void channel_clear(struct channel *b)
{
	uintptr_t from = ((uintptr_t)b->text + TEXT_KEPT) & ~(uintptr_t)4095;

	if (b->text_len > TEXT_KEPT)
		madvise((void *)from, b->text_len - TEXT_KEPT, MADV_REMOVE);
	b->text_len = 0;
	b->step_count = 0;
}

/* The bytes, now on the channel with a NUL behind them; NULL stays NULL. */
static bool add_text(struct channel *b, const char **text, size_t len)
{
	char *to = b->text + b->text_len;

	if (!*text)
		return true;
	if (len >= CHANNEL_TEXT_MAX - b->text_len)
		return false;
	memcpy(to, *text, len);
	to[len] = '\0';
	b->text_len += len + 1;
	*text = to;
	return true;
}

bool channel_add(struct channel *b, const struct plan_step *step)
{
	struct plan_step *to = &b->steps[b->step_count];
	const struct op_info *op = &op_table[step->call.op];
	size_t text_len = b->text_len;

	if (b->step_count == CHANNEL_STEPS_MAX)
		return false;
	*to = *step;
	for (unsigned i = 0; i < op->args; i++) {
		struct arg *arg = &to->call.arg[i];

		if (kind_table[op->arg[i].kind].form != FORM_NUM && !arg->generated &&
		    !add_text(b, &arg->text, arg->len))
			goto full;
	}
	if (step->exact && !add_text(b, &to->expected.bytes, to->expected.len))
		goto full;
	b->step_count++;
	return true;
full:
	b->text_len = text_len;
	return false;
}

bool channel_answer_at(struct channel *b, size_t used, const struct outcome *o, struct outcome *ret)
{
	char *to = b->answer + used;

	*ret = *o;
	if (!o->bytes)
		return true;
	if (o->len >= CHANNEL_ANSWER_MAX - used)
		return false;
	memcpy(to, o->bytes, o->len);
	to[o->len] = '\0';
	ret->bytes = to;
	return true;
}

bool channel_answer(struct channel *b, const struct outcome *o, struct outcome *ret)
{
	return channel_answer_at(b, 0, o, ret);
}

void channel_pass(struct channel *b, enum channel_turn turn)
{
	atomic_store(&b->turn, turn);
	syscall(SYS_futex, &b->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool channel_await(struct channel *b, enum channel_turn turn, int64_t wait_ns)
{
	struct timespec wait = { wait_ns / 1000000000, wait_ns % 1000000000 };
	uint32_t now = atomic_load(&b->turn);

	if (now == turn)
		return true;
	syscall(SYS_futex, &b->turn, FUTEX_WAIT, now, &wait, NULL, 0);
	return atomic_load(&b->turn) == turn;
}
