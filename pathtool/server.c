/* server.c -- the process that waits at the first read of a symbolic byte, and its copies.
 *
 * Nearly all of the time of a checker under Valgrind is translation, so a copy by fork begins with
 * all code translated that any run before it needed. */
#include "pathtool/server.h"

#include "pathtool/positions.h"
#include <pub_tool_libcassert.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_vki.h>

/* Of Valgrind's core. */
extern void VG_(do_atfork_child)(ThreadId tid);
extern Int VG_(safe_fd)(Int fd);
extern Int VG_(count_living_threads)(void);
extern Bool VG_(translate)(ThreadId tid, Addr at, Bool debugging, Int verbosity, ULong blocks_done,
			   Bool allow_redirection);
extern Bool VG_(am_is_valid_for_client)(Addr start, SizeT len, UInt protection);

enum { RESOURCE_CPU = 0 }; /* RLIMIT_CPU, which Valgrind has no name for */

static Int control = -1;
static Bool is_run;

void server_init(Int control_fd)
{
	control = VG_(safe_fd)(control_fd);
}

Bool server_is_run(void)
{
	return is_run;
}

void server_translated(Addr at)
{
	if (is_run && tool_log->translated_count < PATH_TRANSLATED_MAX)
		tool_log->translated[tool_log->translated_count++] = at;
}

static void server_translate_again(ThreadId tid)
{
	for (UInt i = 0; i < tool_log->translated_count; i++) {
		Addr at = tool_log->translated[i];

		if (VG_(am_is_valid_for_client)(at, 1, VKI_PROT_EXEC))
			VG_(translate)(tid, at, False, 0, 0, True);
	}
	tool_log->translated_count = 0;
}

static void server_become_run(ThreadId tid)
{
	struct vki_rlimit limit = { tool_log->run_seconds, tool_log->run_seconds + 1 };

	is_run = True;
	VG_(prctl)(VKI_PR_SET_PDEATHSIG, VKI_SIGKILL, 0, 0, 0);
	VG_(setrlimit)(RESOURCE_CPU, &limit);
	VG_(close)(control);
	VG_(do_atfork_child)(tid);
	tool_begin_run();
}

static void server_answer(const void *data, UInt len)
{
	if (VG_(write)(control, data, len) != (Int)len)
		VG_(exit)(1);
}

void server_serve(ThreadId tid)
{
	UChar request;

	if (VG_(count_living_threads)() > 1) {
		tool_log->state = PATH_THREADED;
		VG_(exit)(1);
	}
	tool_log->state = PATH_SERVING;
	request = PATH_RUN;
	server_answer(&request, 1);
	positions_save();
	while (VG_(read)(control, &request, 1) == 1 && request == PATH_RUN) {
		struct path_end end = { 0 };
		Int pid;

		positions_restore();
		pid = VG_(fork)();
		if (pid == 0) {
			server_become_run(tid);
			return;
		}
		if (pid < 0)
			VG_(exit)(1);
		server_answer(&pid, sizeof(pid));
		VG_(waitpid)(pid, &end.status, 0);
		server_translate_again(tid);
		server_answer(&end, sizeof(end));
	}
	VG_(exit)(0);
}
