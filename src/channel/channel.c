/* channel.c -- turns by futex, and calls and outcomes in shared memory.
 *
 * Both sides may look for a short while before they sleep, since most calls are faster than a
 * sleep. */
#include "channel/channel.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "op/kind.h"

enum {
	PAGE = 4096,
	TEXT_CACHED = 1 << 20, /* more than this, touched by one large call, is given back */
};

void turn_pass(struct turn *t, enum channel_side to)
{
	atomic_store(&t->side, to);
	if (atomic_exchange(&t->asleep, 0))
		syscall(SYS_futex, &t->side, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool turn_await(struct turn *t, enum channel_side side, int64_t until_ns)
{
	struct timespec until = { until_ns / NS_PER_S, until_ns % NS_PER_S };
	uint32_t now;

	for (unsigned i = 0; i < t->spins; i++) {
		if (atomic_load_explicit(&t->side, memory_order_acquire) == side)
			return true;
		cpu_relax();
	}
	while ((now = atomic_load(&t->side)) != side) {
		/* Before the last look at the turn, which the kernel takes. */
		atomic_store(&t->asleep, 1);
		if (syscall(SYS_futex, &t->side, FUTEX_WAIT_BITSET, now,
			    until_ns == INT64_MAX ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY) &&
		    errno != EAGAIN)
			return atomic_load(&t->side) == side;
	}
	return true;
}

static size_t round_to_pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

void *channel_new(size_t message_size, size_t text_max, size_t data_max)
{
	size_t data_at = round_to_pages(message_size), text_at = data_at + round_to_pages(data_max);
	size_t size = text_at + text_max;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct channel *c = (struct channel *)memory;

	if (memory == MAP_FAILED)
		return NULL;
	c->size = size;
	c->text = (struct channel_area){ .at = memory + text_at, .max = text_max };
	c->data = (struct channel_area){ .at = memory + data_at, .max = data_max };
	return c;
}

void channel_free(struct channel *c)
{
	if (c)
		munmap(c, c->size);
}

void channel_clear(struct channel *c)
{
	uintptr_t from = ((uintptr_t)c->text.at + TEXT_CACHED) & ~(uintptr_t)(PAGE - 1);

	if (c->text.used > TEXT_CACHED)
		madvise((void *)from, c->text.used - TEXT_CACHED, MADV_REMOVE);
	c->text.used = 0;
	c->data.used = 0;
}

/* The copy has a NUL behind it; NULL if there is no room. */
static const char *area_add(struct channel_area *area, const char *bytes, size_t len)
{
	char *to = area->at + area->used;

	if (len >= area->max - area->used)
		return NULL;
	memcpy(to, bytes, len);
	to[len] = '\0';
	area->used += len + 1;
	return to;
}

bool channel_copy_call(struct channel *c, const struct call *from, struct call *to)
{
	const struct op_info *op = &op_table[from->op];
	size_t used = c->text.used, len;

	*to = *from;
	for (unsigned i = 0; i < op->args; i++) {
		enum arg_form form = kind_table[op->arg[i].kind]->form;
		struct arg *arg = &to->arg[i];

		if (form == FORM_NUM || !arg->text || arg->generated)
			continue;
		len = form == FORM_TEXT ? strlen(arg->text) : (size_t)arg->len;
		arg->text = area_add(&c->text, arg->text, len);
		if (!arg->text) {
			c->text.used = used;
			return false;
		}
	}
	return true;
}

bool channel_copy_outcome(struct channel *c, struct channel_area *area, const struct outcome *from,
			  struct outcome *to)
{
	*to = *from;
	if (!from->bytes)
		return true;
	if (!from->len) {
		to->bytes = &c->empty;
		return true;
	}
	if (from->bytes >= area->at && from->bytes < area->at + area->max) {
		area->used = (size_t)(from->bytes + from->len + 1 - area->at);
		return true;
	}
	to->bytes = area_add(area, from->bytes, from->len);
	return to->bytes;
}

bool channel_copy_text(struct channel *c, const char *from, size_t len, const char **to)
{
	*to = from ? area_add(&c->text, from, len) : NULL;
	return *to || !from;
}

bool channel_fill(struct channel_area *area, const void *bytes, size_t len)
{
	if (len > area->max)
		return false;
	memcpy(area->at, bytes, len);
	area->used = len;
	return true;
}

char *channel_room(const struct channel *c)
{
	return c->data.at + round_to_pages(c->data.used);
}
