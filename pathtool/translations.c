/* translations.c -- code that runs translated is translated by the server as well, and linked.
 *
 * Valgrind links a translated block to the next one when it is first gone through, by patching it.
 * A copy of the server would patch (and so copy) most pages of code again. So the linker lets us
 * stand between the core and two functions of its own (-Wl,--wrap): a run logs the size of every
 * translation and all links; the server translates the same code in the same order, and if all
 * sizes are the same, everything lies at the same addresses, and it makes the same links. */
#include "pathtool/translations.h"

#include <libvex.h>
#include <pub_tool_vki.h>

/* Of Valgrind's core. */
extern Bool VG_(translate)(ThreadId tid, Addr at, Bool debugging, Int verbosity, ULong blocks_done,
			   Bool allow_redirection);
extern Bool VG_(am_is_valid_for_client)(Addr start, SizeT len, UInt protection);

void __real_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr entry, Addr code, UInt len,
				    Bool self_checking, Int counter_at, UInt guest_count);
void __wrap_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr entry, Addr code, UInt len,
				    Bool self_checking, Int counter_at, UInt guest_count);
void __real_vgPlain_tt_tc_do_chaining(void *from, UInt to_sector, UInt to_entry, Bool to_fast);
void __wrap_vgPlain_tt_tc_do_chaining(void *from, UInt to_sector, UInt to_entry, Bool to_fast);

static UInt added; /* translations, in this process, of this run */
static Bool repeating, same;

void __wrap_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr entry, Addr code, UInt len,
				    Bool self_checking, Int counter_at, UInt guest_count)
{
	__real_vgPlain_add_to_transtab(extents, entry, code, len, self_checking, counter_at,
				       guest_count);
	if (added >= PATH_TRANSLATED_MAX)
		same = False;
	else if (tool_is_run)
		tool_log->translated[added].len = len;
	else if (repeating && tool_log->translated[added].len != len)
		same = False;
	added++;
}

void __wrap_vgPlain_tt_tc_do_chaining(void *from, UInt to_sector, UInt to_entry, Bool to_fast)
{
	UInt i = tool_log->link_count;

	if (tool_is_run && i < PATH_LINKS_MAX) {
		tool_log->links[i] = (struct path_link){ (Addr)from, to_sector, to_entry, to_fast };
		tool_log->link_count = i + 1;
	}
	__real_vgPlain_tt_tc_do_chaining(from, to_sector, to_entry, to_fast);
}

void translations_note(Addr at)
{
	if (tool_is_run && tool_log->translated_count < PATH_TRANSLATED_MAX)
		tool_log->translated[tool_log->translated_count++].at = at;
}

static void translations_link(void)
{
	for (UInt i = 0; i < tool_log->link_count; i++) {
		const struct path_link *l = &tool_log->links[i];

		__real_vgPlain_tt_tc_do_chaining((void *)l->from, l->to_sector, l->to_entry,
						 l->to_fast);
	}
}

void translations_repeat(ThreadId tid)
{
	added = 0;
	same = repeating = True;
	for (UInt i = 0; i < tool_log->translated_count; i++) {
		Addr at = tool_log->translated[i].at;

		if (VG_(am_is_valid_for_client)(at, 1, VKI_PROT_EXEC))
			VG_(translate)(tid, at, False, 0, 0, True);
		else
			same = False;
	}
	if (same && added == tool_log->translated_count)
		translations_link();
	tool_log->same_layout = same && added == tool_log->translated_count;
	repeating = False;
	added = 0;
	tool_log->translated_count = tool_log->link_count = 0;
}
