/* worker_channel.c -- calls and outcomes in shared memory; turns by futex.
 *
 * A turn costs a store and, where the other side sleeps already, one system call: both sides look
 * for a short while before they sleep, since most calls are faster than a sleep. */
#include "sandbox/worker_channel.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "op/kind.h"
#include "syscall/caller.h"

enum { SPINS = 400, PAGE = 4096 };

static const size_t header_size = (sizeof(struct wire) + PAGE - 1) / PAGE * PAGE;
static const size_t data_size = WIRE_DATA_KEPT + PAGE + EXEC_DATA_MAX + BUFFER_SLACK;
/* One argument of the largest size, and paths and names beside it. */
static const size_t text_size = EXEC_DATA_MAX + (1 << 20);

static size_t wire_size(void)
{
	return header_size + data_size + text_size;
}

static unsigned spins_here(void)
{
	cpu_set_t cpus;

	return !sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) > 1 ? SPINS : 0;
}

struct wire *wire_new(void)
{
	struct wire *w = mmap(NULL, wire_size(), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (w == MAP_FAILED)
		return NULL;
	w->spins = spins_here();
	w->turn = TURN_WORKER;
	w->data = (char *)w + header_size;
	w->text = w->data + data_size;
	return w;
}

void wire_free(struct wire *w)
{
	if (w)
		munmap(w, wire_size());
}

/* Bytes an argument points to, the NUL behind them included. */
static size_t text_len(const struct arg *arg, enum kind kind)
{
	switch (kind_table[kind].form) {
	case FORM_TEXT:
		return arg->text ? strlen(arg->text) + 1 : 0;
	case FORM_DATA:
		return arg->text && !arg->generated ? (size_t)arg->len + 1 : 0;
	default:
		return 0;
	}
}

void wire_clear(struct wire *w)
{
	w->count = 0;
	w->done = 0;
	w->text_used = 0;
	w->data_used = 0;
}

int wire_add_call(struct wire *w, const struct call *c)
{
	const struct op_info *info = &op_table[c->op];
	size_t used = w->text_used, len;
	struct call *to;

	if (w->count == EXEC_BATCH_MAX)
		return -E2BIG;
	to = &w->calls[w->count].call;
	*to = *c;
	for (unsigned i = 0; i < info->args; i++) {
		len = text_len(&c->arg[i], info->arg[i].kind);
		if (!len)
			continue;
		if (len > text_size - used)
			return -E2BIG;
		memcpy(w->text + used, c->arg[i].text, len - 1);
		w->text[used + len - 1] = '\0';
		to->arg[i].text = w->text + used;
		used += len;
	}
	w->text_used = used;
	w->count++;
	return 0;
}

char *wire_room(struct wire *w)
{
	return w->data + (w->data_used + PAGE - 1) / PAGE * PAGE;
}

/* Data may have been put in the room already. What was not is little: a name. */
void wire_add_outcome(struct wire *w, const struct outcome *o)
{
	bool in_place = o->bytes >= w->data && o->bytes < w->data + data_size;
	struct outcome *to = &w->calls[w->done].outcome;

	*to = *o;
	if (!in_place)
		to->bytes = memcpy(w->data + w->data_used, o->bytes, o->len + 1);
	if (o->len)
		w->data_used = (size_t)(to->bytes + o->len + 1 - w->data);
	atomic_fetch_add(&w->done, 1);
}

static void futex_sleep(_Atomic uint32_t *word, uint32_t value, int64_t until_ns)
{
	struct timespec until = { until_ns / NS_PER_S, until_ns % NS_PER_S };

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, &until, NULL, FUTEX_BITSET_MATCH_ANY);
}

void wire_pass(struct wire *w, enum turn turn)
{
	atomic_store(&w->turn, turn);
	if (atomic_exchange(&w->asleep, 0))
		syscall(SYS_futex, &w->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool wire_await(struct wire *w, enum turn turn, int64_t until_ns)
{
	uint32_t now;

	for (unsigned i = 0; i < w->spins; i++) {
		if (atomic_load_explicit(&w->turn, memory_order_acquire) == turn)
			return true;
		wire_relax();
	}
	while ((now = atomic_load(&w->turn)) != turn) {
		if (clock_ns() >= until_ns)
			return false;
		/* Said before the last look at the turn, which the kernel takes. */
		atomic_store(&w->asleep, 1);
		futex_sleep(&w->turn, now, until_ns);
	}
	return true;
}
