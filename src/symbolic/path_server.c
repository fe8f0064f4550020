/* path_server.c -- a checker under the Valgrind tool (pathtool/), run again and again. */
#include "symbolic/path_server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "process/descriptors.h"
#include "process/owner.h"
#include "storage/image.h"
#include "storage/program.h"

enum {
	WORDS_MAX = 64,
	START_SECONDS = 60,
	ANSWER_SECONDS = 60, /* that translating again may take */
	RUN_PATIENCE = 4,    /* times the CPU time: the machine may be busy */
	/* Descriptors that the checker's process inherits. */
	FD_DISK = 3,
	FD_LOG = 4,
	FD_CONTROL = 5,
	PAGE = 4096,
};

#define TOOL_NAME "assay-paths"
#define TOOL_FILE TOOL_NAME "-amd64-linux"

struct path_server {
	pid_t pid;
	int control;
	struct path_log *log;
	int log_fd;
	struct image work;
	const struct image *disk; /* as it is at the beginning */
	double run_seconds;
	bool used; /* since the disk was as at the beginning */
};

/* --- the tool --- */

/* From the program's own directory: a checkout (with or without a variant, or a test), or an
 * installation. */
static const char *const tool_places[] = {
	"/pathtool",
	"/../pathtool",
	"/../../pathtool",
	"/../../../pathtool",
	"/../libexec/assay/pathtool",
};

static bool tool_find(char *ret_directory, size_t size)
{
	char self[PATH_MAX], file[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len <= 0)
		return false;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < ARRAY_LEN(tool_places); i++) {
		snprintf(file, sizeof(file), "%s%s/" TOOL_FILE, self, tool_places[i]);
		if (access(file, X_OK))
			continue;
		*strrchr(file, '/') = '\0';
		return (size_t)snprintf(ret_directory, size, "%s", file) < size;
	}
	return false;
}

bool path_server_available(struct buf *ret_missing)
{
	char directory[PATH_MAX];

	if (!program_exists("valgrind")) {
		buf_adds(ret_missing, "valgrind is not installed (package valgrind)");
		return false;
	}
	if (!tool_find(directory, sizeof(directory))) {
		buf_adds(ret_missing, "the Valgrind tool was not built: it needs the package "
				      "valgrind when assay is built, on x86-64");
		return false;
	}
	return true;
}

/* --- start --- */

static int server_fill_log(struct path_server *s, const struct path_server_options *o,
			   struct err *err)
{
	struct stat st;

	s->log_fd = memfd_create("assay-path-log", MFD_CLOEXEC);
	if (s->log_fd < 0 || ftruncate(s->log_fd, sizeof(*s->log)))
		return err_sys(err, errno, "cannot make the log of paths");
	s->log = mmap(NULL, sizeof(*s->log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		      s->log_fd, 0);
	if (s->log == MAP_FAILED) {
		s->log = NULL;
		return err_sys(err, errno, "cannot map the log of paths");
	}
	if (fstat(s->work.fd, &st))
		return err_sys(err, errno, "cannot look at the disk");
	s->log->magic = PATH_LOG_MAGIC;
	s->log->version = PATH_LOG_VERSION;
	s->log->disk_device = st.st_dev;
	s->log->disk_inode = st.st_ino;
	s->log->run_seconds = (uint32_t)o->run_seconds + 1;
	s->log->symbolic = o->symbolic;
	return 0;
}

/* The command's words; the buffer holds them. */
static int server_words(const char *command, struct buf *text, char **words, size_t max,
			struct err *err)
{
	static const struct program_value values[] = { { "image", PROGRAM_FD_PATH } };
	size_t count = 0;
	char *rest = NULL;

	if (strpbrk(command, "|&;<>()$`\"'\\*?#~\n"))
		return err_set(err, EINVAL, "paths of a command that needs a shell: %s", command);
	program_fill(text, command, values, ARRAY_LEN(values));
	if (!text->len)
		return err_set(err, EINVAL, "the checker has no command");
	for (char *word = strtok_r(text->data, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest)) {
		if (count + 1 == max)
			return err_set(err, E2BIG, "the checker's command is too long");
		words[count++] = word;
	}
	words[count] = NULL;
	return count ? 0 : err_set(err, EINVAL, "the checker has no command");
}

/* Moves descriptors to their numbers; none of the three may be overwritten before it is moved. */
static void server_inherit(int disk, int log, int control)
{
	int fds[3] = { disk, log, control };
	static const int kept[] = { FD_DISK, FD_LOG, FD_CONTROL };

	for (int i = 0; i < 3; i++)
		fds[i] = fcntl(fds[i], F_DUPFD, FD_CONTROL + 1);
	for (int i = 0; i < 3; i++)
		dup2(fds[i], kept[i]);
	descriptors_keep(kept, ARRAY_LEN(kept));
}

/* Of a run, with what the tool keeps of it. */
#define MEMORY_MAX (UINT64_C(4) << 30)

static void server_limit(uint64_t disk_size)
{
	const struct rlimit none = { 0, 0 }, file = { 2 * disk_size, 2 * disk_size },
			    processes = { 4096, 4096 }, memory = { MEMORY_MAX, MEMORY_MAX };

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &file);
	setrlimit(RLIMIT_NPROC, &processes);
	setrlimit(RLIMIT_DATA, &memory);
	signal(SIGXFSZ, SIG_IGN);
}

static _Noreturn void server_exec(const struct path_server *s, int control, const char *directory,
				  char *const *words, pid_t owner)
{
	char log_option[] = "--log-memory=4", control_option[] = "--control=5";
	char *arguments[WORDS_MAX + 8] = {
		(char *)(uintptr_t) "valgrind",
		(char *)(uintptr_t) "-q",
		(char *)(uintptr_t) "--tool=" TOOL_NAME,
		(char *)(uintptr_t) "--run-libc-freeres=no",
		(char *)(uintptr_t) "--vgdb=no",
		log_option,
		control_option,
	};
	size_t count = 7;

	for (; *words; words++)
		arguments[count++] = *words;
	arguments[count] = NULL;
	owner_follow(owner, SIGKILL);
	setpgid(0, 0);
	server_inherit(s->work.fd, s->log_fd, control);
	server_limit(s->work.size);
	setenv("VALGRIND_LIB", directory, 1);
	/* Vector instructions that the tool does not follow. */
	setenv("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-EVEX,-SSE4_2,-ERMS", 1);
	setenv("LC_ALL", "C", 1);
	execvp("valgrind", arguments);
	_exit(127);
}

static int server_spawn(struct path_server *s, char *const *words, struct err *err)
{
	char directory[PATH_MAX];
	pid_t owner = getpid();
	int ends[2];

	if (!tool_find(directory, sizeof(directory)))
		return err_set(err, ENOENT, "the Valgrind tool %s was not built", TOOL_NAME);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, errno, "socketpair");
	s->control = ends[0];
	s->pid = fork();
	if (s->pid == 0)
		server_exec(s, ends[1], directory, words, owner);
	close(ends[1]);
	return s->pid < 0 ? err_sys(err, errno, "fork") : 0;
}

/* 0: all of it; -EPIPE: the tool ended; -ETIME. */
static int server_read(struct path_server *s, void *data, size_t len, double seconds)
{
	double until = clock_seconds() + seconds;
	char *to = data;

	while (len) {
		struct pollfd fd = { s->control, POLLIN, 0 };
		double left = until - clock_seconds();
		ssize_t n;

		if (left <= 0)
			return -ETIME;
		if (poll(&fd, 1, (int)(left * 1000) + 1) <= 0)
			continue;
		n = recv(s->control, to, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EPIPE;
		to += n;
		len -= (size_t)n;
	}
	return 0;
}

/* 1: it serves; 0: it ended without a read. */
static int server_await(struct path_server *s, const char *command, struct err *err)
{
	char hello;

	switch (server_read(s, &hello, 1, START_SECONDS)) {
	case 0:
		return 1;
	case -ETIME:
		return err_set(err, ETIME, "%s: no read of the disk within %d s", command,
			       START_SECONDS);
	default:
		break;
	}
	if (s->log->state == PATH_ENDED)
		return 0;
	if (s->log->state == PATH_THREADED)
		return err_set(err, ENOTSUP, "%s: it has several threads", command);
	return err_set(err, EIO, "%s: cannot be started under Valgrind", command);
}

int path_server_start(const struct path_server_options *o, struct path_server **ret,
		      struct err *err)
{
	struct path_server *s = must_alloc(sizeof(*s));
	struct buf text = BUF_INIT;
	char *words[WORDS_MAX];
	int r;

	*s = (struct path_server){ .pid = -1,
				   .control = -1,
				   .log_fd = -1,
				   .disk = o->disk,
				   .run_seconds = o->run_seconds };
	r = server_words(o->command, &text, words, ARRAY_LEN(words), err);
	if (!r)
		r = image_make(&s->work, o->disk->size, err);
	if (!r)
		r = image_fill(&s->work, o->disk->fd, err);
	if (!r)
		r = server_fill_log(s, o, err);
	if (!r)
		r = server_spawn(s, words, err);
	if (!r)
		r = server_await(s, o->command, err);
	buf_free(&text);
	if (r <= 0) {
		path_server_stop(s);
		s = NULL;
	}
	*ret = s;
	return r < 0 ? r : 0;
}

void path_server_stop(struct path_server *s)
{
	if (!s)
		return;
	if (s->control >= 0)
		close(s->control);
	if (s->pid > 0) {
		kill(-s->pid, SIGKILL);
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	if (s->log)
		munmap(s->log, sizeof(*s->log));
	if (s->log_fd >= 0)
		close(s->log_fd);
	image_free(&s->work);
	free(s);
}

/* --- runs --- */

static void server_restore(struct path_server *s)
{
	const struct path_log *log = s->log;

	if (log->whole_disk) {
		must(!ftruncate(s->work.fd, (off_t)s->work.size));
		for (uint64_t at = 0; at < s->work.size; at += PAGE) {
			if (memcmp(s->work.bytes + at, s->disk->bytes + at, PAGE) != 0)
				memcpy(s->work.bytes + at, s->disk->bytes + at, PAGE);
		}
		return;
	}
	for (uint32_t i = 0; i < log->write_count && i < PATH_WRITES_MAX; i++) {
		struct path_range w = log->writes[i];

		if (w.at >= s->work.size)
			continue;
		if (w.len > s->work.size - w.at)
			w.len = s->work.size - w.at;
		memcpy(s->work.bytes + w.at, s->disk->bytes + w.at, w.len);
	}
}

static void server_forget_run(struct path_log *log)
{
	log->expr_count = log->condition_count = log->write_count = 0;
	log->translated_count = log->link_count = 0;
	log->whole_disk = log->finished = log->lost_op = 0;
	memset(log->gaps, 0, sizeof(log->gaps));
}

static void server_prepare(struct path_server *s)
{
	if (!s->used)
		return;
	server_restore(s);
	server_forget_run(s->log);
	s->used = false;
}

void path_server_patch(struct path_server *s, uint64_t at, const void *bytes, size_t len)
{
	must(at <= s->work.size && len <= s->work.size - at);
	server_prepare(s);
	memcpy(s->work.bytes + at, bytes, len);
	if (s->log->write_count == PATH_WRITES_MAX)
		s->log->whole_disk = 1;
	else
		s->log->writes[s->log->write_count++] = (struct path_range){ at, len };
}

void path_server_set_ranges(struct path_server *s, const struct path_range *ranges, size_t count)
{
	must(count <= PATH_RANGES_MAX);
	server_prepare(s);
	s->log->range_count = (uint32_t)count;
	memcpy(s->log->ranges, ranges, count * sizeof(*ranges));
}

static int server_lost(struct err *err)
{
	return err_set(err, EIO, "the checker's process under Valgrind was lost");
}

int path_server_run(struct path_server *s, const uint8_t *values, struct path_run *ret,
		    struct err *err)
{
	char request = PATH_RUN;
	struct path_end end;
	int32_t pid;
	int r;

	server_prepare(s);
	for (uint32_t i = 0; i < s->log->range_count; i++) {
		path_server_patch(s, s->log->ranges[i].at, values, s->log->ranges[i].len);
		values += s->log->ranges[i].len;
	}
	s->used = true;
	*ret = (struct path_run){ 0 };
	if (send(s->control, &request, 1, MSG_NOSIGNAL) != 1 ||
	    server_read(s, &pid, sizeof(pid), ANSWER_SECONDS) || pid <= 0)
		return server_lost(err);
	r = server_read(s, &end, sizeof(end), RUN_PATIENCE * s->run_seconds);
	if (r == -ETIME) {
		ret->timed_out = true;
		kill(pid, SIGKILL);
		r = server_read(s, &end, sizeof(end), ANSWER_SECONDS);
	}
	if (r)
		return server_lost(err);
	ret->status = end.status;
	if (WIFSIGNALED(end.status) && (!s->log->finished || WTERMSIG(end.status) == SIGXCPU))
		ret->timed_out = true;
	return 0;
}

const struct path_log *path_server_log(const struct path_server *s)
{
	return s->log;
}

uint64_t path_server_branches(const struct path_server *s)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < PATH_BRANCHES_MAX; i++)
		count += s->log->branches[i].taken[0] + s->log->branches[i].taken[1];
	return count;
}

double path_server_cpu_seconds(const struct path_server *s)
{
	unsigned long user = 0, system = 0, children_user = 0, children_system = 0;
	char path[64];
	struct buf text = BUF_INIT;
	const char *behind_name;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)s->pid);
	if (buf_read_file(&text, path, PAGE, &(struct err){ 0 }) == 0) {
		behind_name = strrchr(buf_str(&text), ')');
		if (behind_name)
			sscanf(behind_name + 1,
			       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
			       &user, &system, &children_user, &children_system);
	}
	buf_free(&text);
	return (double)(user + system + children_user + children_system) /
	       (double)sysconf(_SC_CLK_TCK);
}
