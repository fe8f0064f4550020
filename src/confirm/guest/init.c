/* init.c -- the first process of a guest: loads modules, mounts, runs the reproducer, reports.
 *
 * Compiled for the guest, statically, with nothing of ours besides it. It is also the guest's
 * /bin/sh, whose only command remounts the file system: that is all that a reproducer starts. The
 * file /plan has a line for each step, its words separated by tabs:
 *
 *	module FILE PARAMETERS
 *	volume NAME             makes a volume of all of ubi0
 *	layers                  makes /back/lower, /back/upper and /back/work in memory
 *	crash STATUS            the disk is one after a crash: mounting it is part of the test,
 *which ends with this status if that fails mount TYPE SOURCE OPTIONS
 *
 * Reports are lines "assay-guest: ..." on the console, which confirm/verdict.c reads. */
#include <errno.h>
#include <fcntl.h>
#include <mtd/ubi-user.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define PLACE "/mnt"
#define ROOT PLACE "/assay-repro"

enum { PLAN_BYTES = 1 << 16, WORDS = 4, DEVICE_TRIES = 200, TRY_USEC = 50000, BUSY_TRIES = 60 };
enum { KLOG_CONSOLE_OFF = 6, KLOG_CONSOLE_ON = 7, KLOG_CONSOLE_LEVEL = 8, KLOG_ALL = 8 };

static char plan[PLAN_BYTES];
static char *mount_words[WORDS];
static int crash_status = -1; /* of a test of a disk after a crash; -1: it is none */

/* A line that no message of the kernel is mixed into. */
static void report(const char *format, ...)
{
	va_list args;

	klogctl(KLOG_CONSOLE_OFF, NULL, 0);
	fputs("\nassay-guest: ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	klogctl(KLOG_CONSOLE_ON, NULL, 0);
}

static _Noreturn void end_guest(void)
{
	sync();
	reboot(RB_AUTOBOOT); /* without reboots, that ends the machine */
	for (;;)
		pause();
}

static _Noreturn void give_up(const char *what, const char *which)
{
	report("cannot: %s %s: %s", what, which, strerror(errno));
	end_guest();
}

static void split_words(char *line, char *words[WORDS])
{
	for (int i = 0; i < WORDS; i++) {
		words[i] = line ? line : (char *)"";
		line = line ? strchr(line, '\t') : NULL;
		if (line)
			*line++ = '\0';
	}
}

static void read_plan(void)
{
	int fd = open("/plan", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, plan, sizeof(plan) - 1) < 0)
		give_up("read", "/plan");
	close(fd);
}

static void load_module(const char *file, const char *parameters)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	/* Of several that do the same by other instructions, one may not work here. */
	if ((fd < 0 || syscall(SYS_finit_module, fd, parameters, 0)) && errno != EEXIST &&
	    errno != ENODEV)
		give_up("load", file);
	close(fd);
}

static unsigned long long read_number(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		give_up("read", path);
	close(fd);
	return strtoull(text, NULL, 10);
}

static void make_volume(const char *name)
{
	struct ubi_mkvol_req volume = {
		.vol_id = UBI_VOL_NUM_AUTO,
		.alignment = 1,
		.vol_type = UBI_DYNAMIC_VOLUME,
		.name_len = (short)strlen(name),
	};
	int fd = open("/dev/ubi0", O_RDONLY | O_CLOEXEC);

	volume.bytes = (long long)(read_number("/sys/class/ubi/ubi0/avail_eraseblocks") *
				   read_number("/sys/class/ubi/ubi0/eraseblock_size"));
	strncpy(volume.name, name, sizeof(volume.name) - 1);
	if (fd < 0 || ioctl(fd, UBI_IOCMKVOL, &volume) < 0)
		give_up("make the volume", name);
	close(fd);
}

static void make_layers(void)
{
	if (mount("back", "/back", "tmpfs", 0, "mode=0755") || mkdir("/back/lower", 0755) ||
	    mkdir("/back/upper", 0755) || mkdir("/back/work", 0755))
		give_up("make", "/back");
}

static int mount_disk(void)
{
	return mount(mount_words[2], PLACE, mount_words[1], MS_NOSUID | MS_NODEV | MS_NOATIME,
		     mount_words[3]);
}

static int attach(void)
{
	if (mount_disk())
		return -1;
	return mkdir(ROOT, 0755) && errno != EEXIST ? -1 : 0;
}

/* Devices are found while we begin. */
static void await_device(void)
{
	for (int i = 0; *mount_words[2] == '/' && access(mount_words[2], F_OK); i++) {
		if (i == DEVICE_TRIES)
			give_up("find", mount_words[2]);
		usleep(TRY_USEC);
	}
}

static void mount_first(void)
{
	if (!attach())
		return;
	if (errno == ENODEV) {
		report("lacks %s", mount_words[1]);
		end_guest();
	}
	give_up("mount", mount_words[1]);
}

/* Of /bin/sh. What was closed last may be in use for a moment. */
static int remount(void)
{
	int tries = BUSY_TRIES;

	while (umount(PLACE))
		if (errno != EBUSY || !tries--)
			return 1;
		else
			usleep(TRY_USEC);
	return attach() ? 1 : 0;
}

/* What only the shell needs is the last step. */
static void take_steps(int all)
{
	char *save = NULL, *words[WORDS];

	for (char *line = strtok_r(plan, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		split_words(line, words);
		if (!strcmp(words[0], "mount"))
			memcpy(mount_words, words, sizeof(words));
		else if (!all)
			continue;
		else if (!strcmp(words[0], "module"))
			load_module(words[1], words[2]);
		else if (!strcmp(words[0], "volume"))
			make_volume(words[1]);
		else if (!strcmp(words[0], "layers"))
			make_layers();
		else if (!strcmp(words[0], "crash"))
			crash_status = atoi(words[1]);
	}
}

static void run_repro(const char *root)
{
	char *argv[] = { (char *)"repro", (char *)root, (char *)"remount", NULL };
	char *environment[] = { (char *)"PATH=/bin", (char *)"LC_ALL=C", NULL };
	int status;
	pid_t pid = fork();

	if (!pid) {
		setsid();
		execve("/repro", argv, environment);
		_exit(127);
	}
	while (waitpid(-1, &status, 0) != pid)
		;
	if (WIFEXITED(status))
		report("ended with %d", WEXITSTATUS(status));
	else
		report("killed by %d", WTERMSIG(status));
}

/* Recovery is what is tested; the file system is not changed. */
static void run_crashed(void)
{
	if (!mount_disk()) {
		run_repro(PLACE);
	} else if (errno == ENODEV) {
		report("lacks %s", mount_words[1]);
	} else {
		printf("%s: it cannot be mounted: %s\n",
		       crash_status == 1 ? "wrong" : "cannot tell", strerror(errno));
		report("ended with %d", crash_status);
	}
}

int main(int argc, char **argv)
{
	struct utsname kernel;

	if (getpid() != 1) {
		read_plan();
		take_steps(0);
		return remount();
	}
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sys", "/sys", "sysfs", 0, NULL);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	uname(&kernel);
	report("kernel %s %s", kernel.release, kernel.version);
	read_plan();
	take_steps(1);
	await_device();
	if (crash_status < 0)
		mount_first();
	klogctl(KLOG_CONSOLE_LEVEL, NULL, KLOG_ALL);
	report("begins");
	if (crash_status < 0)
		run_repro(ROOT);
	else
		run_crashed();
	end_guest();
}
