/* guard.c -- what the calls of a script cannot reach. */
#include "sandbox/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/must.h"
#include "process/capability.h"

int guard_root(int root_fd, int *ret_mount_fd, int *ret_root_fd)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID };
	int mount_fd = open_tree(root_fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	int fd = -1, error;

	if (mount_fd < 0)
		return -errno;
	if (!mount_setattr(mount_fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)))
		fd = openat(mount_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		error = errno;
		close(mount_fd);
		return -error;
	}
	*ret_mount_fd = mount_fd;
	*ret_root_fd = fd;
	return 0;
}

/* What operations and changing between users take. */
static const cap_value_t caps_of_calls[] = {
	CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER,       CAP_FSETID,
	CAP_SETUID, CAP_SETGID,       CAP_LINUX_IMMUTABLE, CAP_SYS_RESOURCE, CAP_SYS_ADMIN,
	CAP_MKNOD,  CAP_LEASE,        CAP_SETFCAP,
};
static const cap_value_t caps_of_serving[] = { CAP_KILL, CAP_SYS_CHROOT, CAP_SYS_PTRACE,
					       CAP_SETPCAP };

/* Of these capabilities, those that we have. */
static void guard_copy_caps(cap_t to, cap_t own, const cap_value_t *caps, size_t count)
{
	static const cap_flag_t flags[] = { CAP_PERMITTED, CAP_EFFECTIVE };

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < ARRAY_LEN(flags); k++) {
			cap_flag_value_t value = CAP_CLEAR;

			if (!cap_get_flag(own, caps[i], flags[k], &value))
				cap_set_flag(to, flags[k], 1, &caps[i], value);
		}
}

void guard_capabilities(bool serving)
{
	cap_t own = cap_get_proc(), less = cap_init();

	if (!own || !less)
		return;
	guard_copy_caps(less, own, caps_of_calls, ARRAY_LEN(caps_of_calls));
	if (serving)
		guard_copy_caps(less, own, caps_of_serving, ARRAY_LEN(caps_of_serving));
	must(!cap_set_proc(less)); /* less is always granted */
	cap_free(own);
	cap_free(less);
}

bool guard_may_make_devices(void)
{
	return capability_has(CAP_MKNOD);
}

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#endif

/* Numbers beyond are another interface of the same machine (x32). */
enum { CALL_MAX = 0x3fffffff };

static const int refused[] = {
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_open_tree,
	SYS_move_mount,
	SYS_fsopen,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fspick,
	SYS_mount_setattr,
	SYS_chroot,
	SYS_unshare,
	SYS_setns,
	SYS_open_by_handle_at,
	SYS_swapon,
	SYS_swapoff,
	SYS_quotactl,
	SYS_acct,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_pidfd_getfd,
	SYS_execve,
	SYS_execveat,
	SYS_kexec_load,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_reboot,
	SYS_syslog,
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_adjtimex,
	SYS_clock_adjtime,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
	SYS_iopl,
	SYS_ioperm,
#endif
};

/* Handles of a file system reach all of it. Where that may be, another call is compared twice. */
static uint32_t guard_refused(unsigned i, bool handles)
{
	return (uint32_t)(handles && refused[i] == SYS_open_by_handle_at ? refused[0] : refused[i]);
}

/* One comparison for each call, and what to do at the end. Where it cannot be had the lines before
 * this one stand alone. */
static void guard_refuse(bool handles)
{
#ifdef ARCH
	enum { HEAD = 4, COUNT = ARRAY_LEN(refused) };
	struct sock_filter filter[HEAD + COUNT + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, COUNT + 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, CALL_MAX, COUNT + 1, 0),
	};
	struct sock_fprog program = { ARRAY_LEN(filter), filter };

	for (unsigned i = 0; i < COUNT; i++)
		filter[HEAD + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, guard_refused(i, handles), COUNT - i, 0);
	filter[HEAD + COUNT] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[HEAD + COUNT + 1] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
#endif
}

void guard_calls(void)
{
	guard_refuse(false);
}

void guard_calls_but_handles(void)
{
	guard_refuse(true);
}
