/* shadow.c -- the expression of every byte of memory, of registers and of the disk. */
#include "pathtool/shadow.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_mallocfree.h>

struct shadow_space shadow_memory, shadow_disk;
UChar shadow_register_flags[SHADOW_REGISTERS / 8 + 8];
UChar shadow_filter[SHADOW_FILTER + 8];
static uint32_t registers[SHADOW_REGISTERS];

static struct shadow_page *page_find(const struct shadow_space *space, Addr at)
{
	Addr base = at & ~(Addr)(SHADOW_PAGE - 1);
	struct shadow_page *p = space->heads[base / SHADOW_PAGE % SHADOW_HEADS];

	while (p && p->base != base)
		p = p->next;
	return p;
}

static struct shadow_page *page_make(struct shadow_space *space, Addr at)
{
	struct shadow_page *p = page_find(space, at);
	UInt head = at / SHADOW_PAGE % SHADOW_HEADS;

	if (p)
		return p;
	p = VG_(calloc)("shadow page", 1, sizeof(*p));
	p->base = at & ~(Addr)(SHADOW_PAGE - 1);
	p->next = space->heads[head];
	space->heads[head] = p;
	return p;
}

uint32_t shadow_get(const struct shadow_space *space, Addr at)
{
	const struct shadow_page *p = page_find(space, at);

	return p ? p->exprs[at % SHADOW_PAGE] : 0;
}

/* An access of up to SHADOW_ACCESS_MAX bytes that reaches this one begins in one of three. */
static void filter_set(Addr at)
{
	Addr granule = at >> SHADOW_GRANULE_LOG2;

	for (UInt i = 0; i <= SHADOW_ACCESS_MAX >> SHADOW_GRANULE_LOG2; i++)
		shadow_filter[(granule - i) % SHADOW_FILTER] = 1;
}

void shadow_set(struct shadow_space *space, Addr at, uint32_t e)
{
	struct shadow_page *p = e ? page_make(space, at) : page_find(space, at);

	if (!p)
		return;
	p->exprs[at % SHADOW_PAGE] = e;
	if (e && space == &shadow_memory)
		filter_set(at);
}

void shadow_clear(struct shadow_space *space, Addr at, SizeT len)
{
	for (SizeT done = 0, n; done < len; done += n) {
		struct shadow_page *p = page_find(space, at + done);

		n = SHADOW_PAGE - (at + done) % SHADOW_PAGE;
		if (n > len - done)
			n = len - done;
		if (p)
			VG_(memset)(&p->exprs[(at + done) % SHADOW_PAGE], 0, n * sizeof(uint32_t));
	}
}

void shadow_copy(struct shadow_space *to, Addr to_at, const struct shadow_space *from, Addr from_at,
		 SizeT len)
{
	for (SizeT done = 0, n; done < len; done += n) {
		const struct shadow_page *p = page_find(from, from_at + done);

		n = SHADOW_PAGE - (from_at + done) % SHADOW_PAGE;
		if (n > len - done)
			n = len - done;
		for (SizeT i = 0; p && i < n; i++) {
			uint32_t e = p->exprs[(from_at + done + i) % SHADOW_PAGE];

			if (e)
				shadow_set(to, to_at + done + i, e);
		}
	}
}

static void space_clear(struct shadow_space *space)
{
	for (UInt i = 0; i < SHADOW_HEADS; i++) {
		for (struct shadow_page *p = space->heads[i]; p; p = p->next)
			VG_(memset)(p->exprs, 0, sizeof(p->exprs));
	}
}

void shadow_clear_all(void)
{
	space_clear(&shadow_memory);
	space_clear(&shadow_disk);
	VG_(memset)(shadow_filter, 0, sizeof(shadow_filter));
	VG_(memset)(registers, 0, sizeof(registers));
	VG_(memset)(shadow_register_flags, 0, sizeof(shadow_register_flags));
}

uint32_t shadow_register(UInt offset)
{
	return registers[offset];
}

void shadow_set_register(UInt offset, UInt len, uint32_t e)
{
	for (UInt i = 0; i < len; i++)
		registers[offset + i] = e ? tool_finished(expr_byte(&tool_store, e, i)) : 0;
	for (UInt slot = offset / 8; slot <= (offset + len - 1) / 8; slot++) {
		UChar flag = 0;

		for (UInt i = 0; i < 8; i++)
			flag |= registers[8 * slot + i] != 0;
		shadow_register_flags[slot] = flag;
	}
}

uint32_t shadow_join(const uint32_t *exprs, const UChar *concrete, UInt len)
{
	uint32_t e = 0, any = 0;

	for (UInt i = 0; i < len; i++)
		any |= exprs[i];
	if (!any)
		return 0;
	for (UInt i = 0; i < len; i++) {
		uint32_t byte = exprs[i] ? exprs[i] : expr_const(&tool_store, 8, concrete[i]);

		e = i ? expr_concat(&tool_store, byte, e) : byte;
	}
	return e;
}

uint32_t shadow_load(Addr at, UInt len)
{
	uint32_t exprs[SHADOW_ACCESS_MAX], any = 0;

	for (UInt i = 0; i < len; i++)
		any |= exprs[i] = shadow_get(&shadow_memory, at + i);
	return any ? shadow_join(exprs, (const UChar *)at, len) : 0;
}

void shadow_store(Addr at, UInt len, uint32_t e)
{
	if (!e) {
		shadow_clear(&shadow_memory, at, len);
		return;
	}
	for (UInt i = 0; i < len; i++)
		shadow_set(&shadow_memory, at + i, tool_finished(expr_byte(&tool_store, e, i)));
}

uint32_t shadow_get_register(UInt offset, UInt len, const UChar *concrete)
{
	return shadow_join(&registers[offset], concrete, len);
}
