/* compile.c -- a C program of ours, compiled by whatever compiler there is.
 *
 * Source and program are files in memory, named by the descriptors that they have here. */
#include "sandbox/compile.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "channel/request.h"
#include "storage/program.h"

enum { COMPILE_SECONDS = 120, PROGRAM_SIZE_MAX = 64 << 20 };

static const char *find_compiler(void)
{
	static const char *const compilers[] = { "cc", "gcc", "clang" };

	for (size_t i = 0; i < ARRAY_LEN(compilers); i++)
		if (program_exists(compilers[i]))
			return compilers[i];
	return NULL;
}

static int compile_write_source(int fd, const char *source, struct err *err)
{
	size_t len = strlen(source);
	ssize_t n = pwrite(fd, source, len, 0);

	return n == (ssize_t)len ? 0 : err_sys(err, n < 0 ? errno : ENOSPC, "cannot keep a source");
}

static int compile_read_program(int fd, struct buf *out, struct err *err)
{
	if (lseek(fd, 0, SEEK_SET))
		return err_sys(err, errno, "cannot read a compiled program");
	return buf_read_fd(out, fd, PROGRAM_SIZE_MAX, err);
}

static int compile_run(const char *compiler, const char *flags, int source_fd, int program_fd,
		       struct program_report *ret, struct err *err)
{
	struct buf command = BUF_INIT;
	int status = 0, r;

	buf_addf(&command, "%s -pipe -x c %s -o " PROGRAM_FD_PATH " /proc/%ld/fd/%d", compiler,
		 flags, (long)getpid(), source_fd);
	r = program_run_terminated(command.data, program_fd, COMPILE_SECONDS, &status, &ret->output,
				   err);
	if (!r && status)
		ret->fate = PROGRAM_NOT_COMPILED;
	buf_free(&command);
	return r;
}

int compile_program(const char *source, const char *flags, struct buf *ret_program,
		    struct program_report *ret, struct err *err)
{
	const char *compiler = find_compiler();
	int source_fd, program_fd, r;

	*ret = (struct program_report){ .fate = PROGRAM_EXITED };
	if (!compiler) {
		ret->fate = PROGRAM_NO_COMPILER;
		return 0;
	}
	source_fd = memfd_create("source", MFD_CLOEXEC);
	program_fd = memfd_create("program", MFD_CLOEXEC);
	if (source_fd < 0 || program_fd < 0)
		r = err_sys(err, errno, "cannot make a file in memory");
	else
		r = compile_write_source(source_fd, source, err);
	if (!r)
		r = compile_run(compiler, flags, source_fd, program_fd, ret, err);
	if (!r && ret->fate == PROGRAM_EXITED)
		r = compile_read_program(program_fd, ret_program, err);
	if (source_fd >= 0)
		close(source_fd);
	if (program_fd >= 0)
		close(program_fd);
	if (r)
		program_report_free(ret);
	return r;
}
