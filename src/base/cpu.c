/* cpu.c -- CPU time of this process and of all that it started.
 *
 * getrusage() has the processes that were waited for. Processes that still run, such as a sandbox,
 * are read from /proc. Without /proc they are not counted. */
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"

struct process_row {
	intmax_t pid, parent;
	double seconds;
	bool ours;
};

struct process_table {
	struct process_row *rows;
	size_t count, cap;
};

/* A process's line in /proc; its name is in parentheses and may contain any byte. */
static bool read_process(const char *number, struct process_row *ret)
{
	char path[64], line[1024];
	unsigned long long own, system, waited, waited_system;
	const char *rest;
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", number);
	file = fopen(path, "re");
	if (!file)
		return false;
	len = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[len] = '\0';
	rest = strrchr(line, ')');
	*ret = (struct process_row){ .pid = strtoimax(number, NULL, 10) };
	if (!rest ||
	    sscanf(rest, ") %*c %jd %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
		   &ret->parent, &own, &system, &waited, &waited_system) != 5)
		return false;
	ret->seconds =
		(double)(own + system + waited + waited_system) / (double)sysconf(_SC_CLK_TCK);
	return true;
}

static void read_processes(struct process_table *ret)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	*ret = (struct process_table){ 0 };
	while (dir && (entry = readdir(dir))) {
		if (!strchr("123456789", entry->d_name[0]))
			continue;
		if (ret->count == ret->cap) {
			ret->cap = ret->cap ? 2 * ret->cap : 256;
			ret->rows = must_realloc(ret->rows, ret->cap * sizeof(*ret->rows));
		}
		ret->count += read_process(entry->d_name, &ret->rows[ret->count]);
	}
	if (dir)
		closedir(dir);
}

static bool process_is_ours(const struct process_table *p, intmax_t pid)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->rows[i].pid == pid)
			return p->rows[i].ours;
	return false;
}

/* Of all living descendants. */
static double living_seconds(void)
{
	struct process_table p;
	double sum = 0;
	bool found;

	read_processes(&p);
	do {
		found = false;
		for (size_t i = 0; i < p.count; i++) {
			struct process_row *row = &p.rows[i];

			if (row->ours ||
			    (row->parent != getpid() && !process_is_ours(&p, row->parent)))
				continue;
			row->ours = found = true;
			sum += row->seconds;
		}
	} while (found);
	free(p.rows);
	return sum;
}

static double timeval_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

double cpu_seconds(void)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	return timeval_seconds(self.ru_utime) + timeval_seconds(self.ru_stime) +
	       timeval_seconds(children.ru_utime) + timeval_seconds(children.ru_stime) +
	       living_seconds();
}
