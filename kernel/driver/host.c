// SPDX-License-Identifier: GPL-2.0
/*
 * host.c -- what the driver asks of the host. Names of the C library that the kernel has too
 * would be the kernel's here, hence syscall() where in doubt.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "assay.h"

/* The mapping keeps it. */
void *assay_host_image(int fd, unsigned long *ret_size)
{
	struct stat st;
	void *data;

	if (fstat(fd, &st) || !st.st_size)
		return NULL;
	data = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
		    fd, 0);
	close(fd);
	*ret_size = st.st_size;
	return data == MAP_FAILED ? NULL : data;
}

/* Where the kernel takes addresses for those of a process: below its TASK_SIZE, 0x7f80000000. One
 * behind the other; what was taken last and is given back is free again. */
static unsigned long next_memory = 0x6000000000;

void *assay_host_memory(unsigned long size)
{
	void *memory;

	size = (size + 4095) & ~4095UL;
	memory = mmap((void *)next_memory, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	next_memory += size;
	assay_revert_moved(memory, size);
	return memory;
}

void assay_host_unmap(void *memory, unsigned long size)
{
	size = (size + 4095) & ~4095UL;
	munmap(memory, size);
	assay_revert_moved(memory, size);
	if ((unsigned long)memory + size == next_memory)
		next_memory -= size;
}

/* The child is a sibling: the checker is the parent of all states, and they go with it. */
int assay_host_fork(void)
{
	int pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid < 0 ? -errno : pid;
}

/* No signal announces its end. */
int assay_host_child(void)
{
	int pid = syscall(SYS_clone, 0, 0, 0, 0, 0);

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid < 0 ? -errno : pid;
}

int assay_host_wait(int child)
{
	int status;

	while (syscall(SYS_wait4, child, &status, __WALL, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

void assay_host_exit(int code)
{
	syscall(SYS_exit_group, code);
	__builtin_unreachable();
}

/* ---- memory of callers ---- */

extern const char assay_reads[], assay_writes[], assay_clears[], assay_scans[];

/* Instructions that may meet a bad pointer of a caller (uaccess.c), and what they have it in. */
enum { ACCESS_BYTES = 2 };
static const struct {
	const char *at;
	int pointer;
} accesses[] = {
	{ assay_reads, REG_RSI },
	{ assay_writes, REG_RDI },
	{ assay_clears, REG_RDI },
	{ assay_scans, REG_RDI },
};

static struct sigaction kernels_action;

/* A processor does not say where an address is that no memory can have. */
static int is_bad_pointer(unsigned long pointer, const siginfo_t *info)
{
	unsigned long address = (unsigned long)info->si_addr;

	if (info->si_code == SI_KERNEL)
		return pointer >> 47 != 0;
	return address - pointer < 4096 && !assay_maps_late(address);
}

/* The access ends with bytes left; every other fault is the kernel's own. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	for (unsigned i = 0; i < sizeof(accesses) / sizeof(*accesses); i++)
		if (registers[REG_RIP] == (greg_t)accesses[i].at &&
		    is_bad_pointer(registers[accesses[i].pointer], info)) {
			registers[REG_RIP] += ACCESS_BYTES;
			return;
		}
	kernels_action.sa_sigaction(signal, info, context);
}

void assay_host_catch(void)
{
	struct sigaction action;

	sigaction(SIGSEGV, NULL, &kernels_action);
	action = kernels_action;
	action.sa_sigaction = on_fault;
	sigaction(SIGSEGV, &action, NULL);
}

static unsigned long move(long call, int pid, void *here, const void *there, unsigned long n)
{
	struct iovec local = { here, n }, remote = { (void *)there, n };
	long done = syscall(call, (long)pid, &local, 1L, &remote, 1L, 0L);

	return done < 0 ? 0 : done;
}

unsigned long assay_host_read(int pid, void *to, const void *from, unsigned long n)
{
	return move(SYS_process_vm_readv, pid, to, from, n);
}

unsigned long assay_host_write(int pid, void *to, const void *from, unsigned long n)
{
	return move(SYS_process_vm_writev, pid, (void *)from, to, n);
}
