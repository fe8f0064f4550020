/* swarm_hosts.c -- workers of a swarm on other machines, started by ssh. */
#include "workers/swarm_hosts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/stop.h"
#include "cli/command.h"

/* One worker by ssh: the URL goes by its standard input, not by its command line. */
static pid_t host_start(const char *url, const char *options, const char *host, const char *jobs,
			const char *program)
{
	struct buf command = BUF_INIT;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	buf_addf(
		&command,
		"IFS= read -r ASSAY_REDIS && export ASSAY_REDIS && exec %s swarm work --jobs %s %s",
		program, jobs, options);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(ends[0], 0);
		execlp("ssh", "ssh", "-oBatchMode=yes", host, command.data, (char *)NULL);
		fprintf(stderr, "assay swarm: cannot start ssh: %s\n", strerror(errno));
		_exit(127);
	}
	close(ends[0]);
	if (pid > 0 && (write(ends[1], url, strlen(url)) < 0 || write(ends[1], "\n", 1) < 0))
		fprintf(stderr, "assay swarm: cannot send the URL to %s\n", host);
	close(ends[1]);
	buf_free(&command);
	return pid;
}

static bool host_is_plain(const char *word)
{
	for (const char *at = word; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("@.:_-/", *at))
			return false;
	return *word && *word != '-';
}

int swarm_hosts_start(struct swarm_hosts *h, const char *file, const char *url, const char *options,
		      struct err *err)
{
	struct buf text = BUF_INIT;
	char *line, *rest = NULL;
	int status = buf_read_file(&text, file, 1 << 20, err);

	for (line = status ? NULL : strtok_r(text.data, "\n", &rest); line && !status;
	     line = strtok_r(NULL, "\n", &rest)) {
		char host[256] = "", jobs[16] = "0", program[512] = "assay";

		if (sscanf(line, "%255s %15s %511s", host, jobs, program) < 1 || host[0] == '#')
			continue;
		if (!host_is_plain(host) || !host_is_plain(jobs) || !host_is_plain(program) ||
		    h->count == SWARM_HOSTS_MAX)
			status = err_set(err, EINVAL, "%s: cannot use the line \"%.100s\"", file,
					 line);
		else if ((h->pids[h->count] = host_start(url, options, host, jobs, program)) < 0)
			status = err_sys(err, errno, "cannot start ssh to %s", host);
		else
			h->count++;
	}
	buf_free(&text);
	return status;
}

/* Their findings are on the server: only those that could not work are worth a word. */
void swarm_hosts_await(const struct swarm_hosts *h, const char *file)
{
	int status;

	for (size_t i = 0; i < h->count; i++) {
		while (waitpid(h->pids[i], &status, 0) < 0 && errno == EINTR && !stop_requested)
			;
		if (!WIFEXITED(status) || WEXITSTATUS(status) > EXIT_UNKNOWN)
			fprintf(stderr, "assay swarm: the worker on line %zu of %s has failed\n",
				i + 1, file);
	}
}
