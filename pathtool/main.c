/* main.c -- the tool: what Valgrind asks of one.
 *
 *	valgrind --tool=assay-paths --log-memory=FD --control=FD CHECKER...
 *
 * FD of --log-memory is a file with struct path_log, whose first part is filled in. */
#include "pathtool/tool.h"

#include "base/must.h"
#include "pathtool/disk.h"
#include "pathtool/instrument.h"
#include "pathtool/server.h"
#include "pathtool/shadow.h"
#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_options.h>
#include <pub_tool_tooliface.h>
#include <pub_tool_vki.h>

/* Of Valgrind's core. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT len, UInt protection, Int fd,
						      Off64T offset);

enum { BUCKETS = 2 * PATH_EXPRS_MAX };

struct path_log *tool_log;
struct expr_store tool_store;
struct interval_facts tool_facts;
Bool tool_is_run, tool_following, tool_symbolic;

static uint32_t buckets[BUCKETS];
static Int log_fd = -1, control_fd = -1;

void tool_begin_run(void)
{
	expr_store_init(&tool_store, tool_log->exprs, PATH_EXPRS_MAX, buckets, BUCKETS);
	disk_begin_run();
	tool_log->expr_count = tool_store.count;
	tool_following = tool_symbolic;
}

void tool_gap(enum path_gap gap)
{
	tool_log->gaps[gap]++;
}

void tool_stop_following(void)
{
	tool_following = False;
	shadow_clear_all();
}

uint32_t tool_finished(uint32_t e)
{
	if (tool_store.full && tool_following) {
		tool_gap(GAP_EXPRS);
		tool_stop_following();
	}
	return e && tool_following && !expr_is_fixed(&tool_store, e) ? e : 0;
}

void must_failed(const char *condition, const char *file, int line)
{
	VG_(umsg)("%s:%d: %s\n", file, line, condition);
	VG_(exit)(70);
}

/* --- what the core does to memory and registers --- */

static void memory_written(CorePart part, ThreadId tid, Addr at, SizeT len)
{
	if (tool_following)
		shadow_clear(&shadow_memory, at, len);
}

static void memory_mapped(Addr at, SizeT len, Bool r, Bool w, Bool x, ULong handle)
{
	if (tool_following)
		shadow_clear(&shadow_memory, at, len);
}

static void memory_moved(Addr from, Addr to, SizeT len)
{
	if (tool_following) {
		shadow_clear(&shadow_memory, to, len);
		shadow_copy(&shadow_memory, to, &shadow_memory, from, len);
	}
}

static void register_written(CorePart part, ThreadId tid, PtrdiffT offset, SizeT len)
{
	if (tool_following && offset + len <= SHADOW_REGISTERS)
		shadow_set_register(offset, len, 0);
}

/* A process that the checker starts is not followed. */
static void forked(ThreadId tid)
{
	if (!tool_following)
		return;
	tool_log->whole_disk = 1;
	tool_stop_following();
}

/* --- start and end --- */

static Bool option(const HChar *text)
{
	if VG_INT_CLO (text, "--log-memory", log_fd) {
	} else if VG_INT_CLO (text, "--control", control_fd) {
	} else {
		return False;
	}
	return True;
}

static void usage(void)
{
	VG_(printf)("    --log-memory=FD --control=FD\n");
}

static void start(void)
{
	SysRes memory;

	if (log_fd < 0 || control_fd < 0)
		VG_(fmsg_bad_option)("--log-memory", "descriptors are missing\n");
	memory = VG_(am_shared_mmap_file_float_valgrind)(sizeof(*tool_log),
							 VKI_PROT_READ | VKI_PROT_WRITE, log_fd, 0);
	VG_(close)(log_fd);
	if (sr_isError(memory))
		VG_(exit)(71);
	tool_log = (struct path_log *)sr_Res(memory);
	if (tool_log->magic != PATH_LOG_MAGIC || tool_log->version != PATH_LOG_VERSION)
		VG_(exit)(72);
	tool_symbolic = tool_log->symbolic;
	server_init(control_fd);
	VG_(atfork)(NULL, NULL, forked);
}

static void finish(Int code)
{
	if (tool_is_run)
		tool_log->finished = 1;
	else
		tool_log->state = PATH_ENDED;
}

static void tool_register(void)
{
	VG_(details_name)("assay-paths");
	VG_(details_version)("1");
	VG_(details_description)("the conditions on bytes of a disk that a program checks");
	VG_(details_copyright_author)("GPL-2.0-or-later");
	VG_(details_bug_reports_to)("the authors of assay");
	/* More makes Valgrind fail an assertion of its own. */
	VG_(details_avg_translation_sizeB)(700);
	VG_(basic_tool_funcs)(start, instrument, finish);
	VG_(needs_command_line_options)(option, usage, usage);
	VG_(needs_syscall_wrapper)(disk_before_call, disk_after_call);
	VG_(track_post_mem_write)(memory_written);
	VG_(track_new_mem_mmap)(memory_mapped);
	VG_(track_copy_mem_remap)(memory_moved);
	VG_(track_post_reg_write)(register_written);
}

VG_DETERMINE_INTERFACE_VERSION(tool_register)
