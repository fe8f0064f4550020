/* confine.c -- a process that reads untrusted files drops the rights that it does not need. */
#include "process/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"

/* Newer than the headers of Debian 12 (linux/landlock.h). */
enum {
	CONFINE_FS_TRUNCATE = 1 << 14,
	CONFINE_NET = 1 << 0 | 1 << 1,   /* bind and connect, TCP */
	CONFINE_SCOPE = 1 << 0 | 1 << 1, /* abstract sockets and signals */
};

/* struct landlock_ruleset_attr as of version 6. */
struct confine_ruleset {
	uint64_t fs, net, scope;
};

/* By version of the interface: what it can take away. */
static const struct confine_step {
	long version;
	struct confine_ruleset takes;
} confine_steps[] = {
	{ 1,
	  { .fs = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
		  LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
		  LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
		  LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
		  LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		  LANDLOCK_ACCESS_FS_MAKE_SYM } },
	{ 2, { .fs = LANDLOCK_ACCESS_FS_REFER } },
	{ 3, { .fs = CONFINE_FS_TRUNCATE } },
	{ 4, { .net = CONFINE_NET } },
	{ 6, { .scope = CONFINE_SCOPE } },
};

/* What is given back below the writable directory. */
static const uint64_t confine_writing =
	LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
	LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
	LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER | CONFINE_FS_TRUNCATE;

/* Everything that this version of the interface knows, and how much of the structure that is. */
static struct confine_ruleset confine_all(long version, size_t *ret_size)
{
	struct confine_ruleset all = { 0 };

	for (size_t i = 0; i < sizeof(confine_steps) / sizeof(*confine_steps); i++)
		if (confine_steps[i].version <= version) {
			all.fs |= confine_steps[i].takes.fs;
			all.net |= confine_steps[i].takes.net;
			all.scope |= confine_steps[i].takes.scope;
		}
	*ret_size = version >= 6 ? sizeof(all)
		  : version >= 4 ? offsetof(struct confine_ruleset, scope)
				 : offsetof(struct confine_ruleset, net);
	return all;
}

/* The directory at the path or, while there is none, the one above it. */
static int confine_open(const char *path)
{
	struct buf at = BUF_INIT;
	char *slash;
	int fd;

	buf_adds(&at, path);
	while ((fd = open(buf_str(&at), O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0 && errno == ENOENT &&
	       strcmp(buf_str(&at), ".")) {
		slash = strrchr(at.data, '/');
		if (slash && slash != at.data) {
			*slash = '\0';
		} else {
			buf_clear(&at);
			buf_adds(&at, slash ? "/" : ".");
		}
	}
	buf_free(&at);
	return fd;
}

static void confine_allow(int ruleset, uint64_t known, const char *directory)
{
	struct landlock_path_beneath_attr beneath = {
		.allowed_access = confine_writing & known,
		.parent_fd = confine_open(directory),
	};

	if (beneath.parent_fd < 0)
		return;
	syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
	close(beneath.parent_fd);
}

static long confine_version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static bool confine_restrict(int ruleset)
{
	bool done = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
		    !syscall(SYS_landlock_restrict_self, ruleset, 0);

	close(ruleset);
	return done;
}

/* What is denied: all that the kernel knows of, and `more`. -1 where it knows of nothing. */
static int confine_begin(uint64_t more, uint64_t *ret_denied)
{
	long version = confine_version();
	struct confine_ruleset all;
	size_t size;

#ifdef CONFINE_NOTHING
	version = 0;
#endif
	if (version < 1)
		return -1;
	all = confine_all(version, &size);
	all.fs |= more;
	*ret_denied = all.fs;
	return (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
}

void confine_reader(const char *const *writable, size_t count)
{
	uint64_t denied;
	int ruleset = confine_begin(0, &denied);

	if (ruleset < 0)
		return;
	for (size_t i = 0; i < count; i++)
		confine_allow(ruleset, denied, writable[i]);
	confine_restrict(ruleset);
}

static void confine_allow_reading(int ruleset, const char *path)
{
	struct landlock_path_beneath_attr beneath = { .allowed_access =
							      LANDLOCK_ACCESS_FS_READ_FILE };
	struct stat st;

	beneath.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (beneath.parent_fd < 0)
		return;
	if (!fstat(beneath.parent_fd, &st) && S_ISDIR(st.st_mode))
		beneath.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
	syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
	close(beneath.parent_fd);
}

bool confine_server(const char *const *readable, size_t count)
{
	uint64_t denied;
	int ruleset =
		confine_begin(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR, &denied);

	if (ruleset < 0)
		return false;
	for (size_t i = 0; i < count; i++)
		confine_allow_reading(ruleset, readable[i]);
	return confine_restrict(ruleset);
}

bool confine_program(void)
{
	long version = confine_version();
	struct landlock_path_beneath_attr null = { .allowed_access =
							   LANDLOCK_ACCESS_FS_WRITE_FILE };
	struct confine_ruleset all;
	size_t size;
	int ruleset;

	if (version < 1)
		return false;
	all = confine_all(version, &size);
	all.fs &= ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
	if (ruleset < 0)
		return false;
	null.parent_fd = open("/dev/null", O_PATH | O_CLOEXEC);
	if (null.parent_fd >= 0) {
		syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &null, 0);
		close(null.parent_fd);
	}
	return confine_restrict(ruleset);
}
