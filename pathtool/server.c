/* server.c -- the process that waits at the first read of the disk, and its copies.
 *
 * Nearly all of the time of a checker under Valgrind is translation, so a copy by fork begins with
 * all code translated that any run before it needed. */
#include "pathtool/server.h"

#include "pathtool/positions.h"
#include "pathtool/translations.h"
#include <pub_tool_libcassert.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_vki.h>

/* Of Valgrind's core. */
extern void VG_(do_atfork_child)(ThreadId tid);
extern Int VG_(safe_fd)(Int fd);
extern Int VG_(count_living_threads)(void);

enum { RESOURCE_CPU = 0 }; /* RLIMIT_CPU, which Valgrind has no name for */

static Int control = -1;

void server_init(Int control_fd)
{
	control = VG_(safe_fd)(control_fd);
}

static void server_become_run(ThreadId tid)
{
	struct vki_rlimit limit = { tool_log->run_seconds, tool_log->run_seconds + 1 };

	tool_is_run = True;
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
		translations_repeat(tid);
		server_answer(&end, sizeof(end));
	}
	VG_(exit)(0);
}
