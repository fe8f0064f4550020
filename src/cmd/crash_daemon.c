/* crash_daemon.c -- `assay crash --daemon`: its options, its figures and its summary. */
#include "cmd/crash_daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/count_text.h"
#include "base/err.h"
#include "cli/command.h"
#include "run/run.h"

const char *const crash_daemon_figures[] = { "workloads", "not_judged", "promises", "crash_states",
					     "during",    "hidden",     "restarts", NULL };

static enum kill_moment moment_find(const char *name)
{
	enum kill_moment m = 0;

	while (m < KILL_MOMENTS && strcmp(name, kill_moment_names[m]))
		m++;
	return m;
}

int crash_daemon_check_names(bool daemon, const struct opt_list *moments, struct err *err)
{
	for (size_t i = 0; i < moments->count; i++)
		if (moment_find(moments->items[i]) == KILL_MOMENTS) {
			err_set(err, EINVAL, "--kill: there is no moment %s", moments->items[i]);
			return EXIT_USAGE;
		}
	if (daemon || !moments->count)
		return 0;
	err_set(err, EINVAL, "--kill needs --daemon");
	return EXIT_USAGE;
}

int crash_daemon_check(const struct target *t, const struct opt_list *moments, struct err *err)
{
	if (t->caps & TARGET_KILL) {
		if (crash_daemon_moments(moments) & 1u << KILL_DURING && !t->kind->kill_during)
			return err_set(err, ENOTSUP,
				       "%s: its server cannot be killed during a call", t->name);
		return 0;
	}
	if (!strcmp(t->kind->name, "dir"))
		return err_set(err, ENOTSUP,
			       "%s: its description has no restart command, which kills its server "
			       "and starts it again",
			       t->name);
	if (!strcmp(t->kind->name, "fuse"))
		return err_set(err, ENOTSUP,
			       "%s: it keeps nothing: what is there does not survive a remount",
			       t->name);
	return err_set(err, ENOTSUP, "%s: no daemon serves it", t->name);
}

unsigned crash_daemon_moments(const struct opt_list *moments)
{
	unsigned bits = 0;

	for (size_t i = 0; i < moments->count; i++)
		bits |= 1u << moment_find(moments->items[i]);
	return bits ? bits : 1u << KILL_CALL;
}

void crash_daemon_set_figures(struct run *run, const struct daemon_crash_session *s)
{
	const struct daemon_crash_figures *f = &s->figures;
	const uint64_t figures[] = { f->workloads, f->not_judged, f->promises, f->crash_states,
				     f->during,    f->hidden,     f->restarts };

	for (size_t i = 0; crash_daemon_figures[i]; i++)
		json_object_set_new(run->figures, crash_daemon_figures[i],
				    json_integer((json_int_t)figures[i]));
	if (s->not_judged_for.len)
		json_object_set_new(run->figures, "not_judged_for",
				    json_string(s->not_judged_for.data));
}

static uint64_t daemon_figure(const struct run *run, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(run->figures, name));
}

void crash_daemon_print(const struct run *run, struct buf *out)
{
	buf_addf(out, "%s, %s", count_text(daemon_figure(run, "promises"), "promise"),
		 count_text(daemon_figure(run, "restarts"), "restart"));
	if (daemon_figure(run, "during"))
		buf_addf(out, ", %" PRIu64 " during a call", daemon_figure(run, "during"));
	buf_addch(out, '\n');
	if (daemon_figure(run, "hidden"))
		buf_addf(out,
			 "%" PRIu64
			 " crashes left .fuse_hidden files, removed while they were open: "
			 "not judged\n",
			 daemon_figure(run, "hidden"));
}
