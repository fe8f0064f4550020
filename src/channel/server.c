/* server.c -- the server's side of a channel: it carries out plans and scans. */
#include "channel/server.h"

#include <errno.h>

#include "base/buf.h"
#include "base/must.h"
#include "op/op.h"
#include "tree/pack.h"
#include "tree/scan.h"

enum { OBJECTS_MAX = 1 << 20 };

static const uint64_t file_bytes_max = (uint64_t)1 << 30;

/* Attributes that are the test's. Where a security module labels files, those are not. */
static const char *const prefixes[] = { "user.", "trusted.", "security.", "system.posix_acl_",
					NULL };
static const char *const prefixes_labelled[] = { "user.", "trusted.", "system.posix_acl_", NULL };

struct scanner *channel_server_scanner(unsigned fields, bool labelled)
{
	struct scan_options options = {
		.fields = fields,
		.lost_found = true,
		.xattr_prefixes = labelled ? prefixes_labelled : prefixes,
		.objects_max = OBJECTS_MAX,
		.bytes_max = file_bytes_max,
		.bounded = true,
	};

	return scanner_new(&options);
}

/* Where the root itself gives an error, there is no file system any more; but for what this process
 * lacks, which is our own failure. */
static bool is_death(int failure)
{
	static const int ours[] = { ENOMEM, EMFILE, ENFILE, EACCES, EPERM, EINTR, EOVERFLOW };

	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (failure == -ours[i])
			return false;
	return failure < 0;
}

static enum target_fate server_scan(const struct channel_server *s, struct tree *ret)
{
	struct channel *c = &s->message->channel;

	c->failure = s->scan(s->own, ret, &c->err);
	if (!is_death(c->failure))
		return FATE_FINE;
	c->failure = 0;
	c->err = (struct err){ 0 }; /* why it died is for others to say */
	return FATE_DIED;
}

/* Between plans and scans, the file system may have become another one. */
void channel_server_begin(struct channel_server *s)
{
	struct message *m = s->message;

	m->channel.failure = 0;
	m->channel.err = (struct err){ 0 };
	m->channel.data.used = 0;
	if (m->request != REQUEST_FOLLOW && m->request != REQUEST_OBSERVE)
		times_forget_objects(&s->times);
}

/* Before a call. The clock of files may only move with the timer's interrupt: what waits for one
 * waits for a tick, of at least a millisecond. */
static void server_move_clock(struct channel_server *s, const struct plan_step *step)
{
	const int64_t tick_ns = 1000000;
	bool waits = step->later && s->let_time_pass && step->times.unit_ns <= tick_ns;

	if (waits)
		s->let_time_pass(s->own);
	if (waits || (s->call_ns && s->call_ns >= step->times.unit_ns))
		times_let_pass(&s->times);
}

/* Of the last tree, what the step names is looked at again. True if all is as expected then; if
 * not, only a scan says what there is. */
static bool server_look_at_part(struct channel_server *s, const struct plan_step *step,
				struct tree *ret)
{
	if (!step->part || !s->scan_part || !s->times.is_known)
		return false;
	*ret = tree_copy(&s->times.last);
	if (s->scan_part(s->own, step->part, ret) && hash_equal(tree_hash(ret), step->tree))
		return true;
	tree_free(ret);
	return false;
}

/* The tree behind a call that did not differ from what was expected so far. */
static void server_look(struct channel_server *s, const struct plan_step *step,
			struct plan_report *report)
{
	struct tree tree;
	bool part = server_look_at_part(s, step, &tree);

	if (!part)
		report->fate = server_scan(s, &tree);
	if (s->message->channel.failure || report->fate)
		return;
	report->tree_differs = !hash_equal(tree_hash(&tree), step->tree);
	if (step->exact && !report->tree_differs)
		report->times_differ = !times_check(&s->times, &tree, &step->times, &report->times);
	else
		times_record(&s->times, &tree);
	tree_free(&tree);
	report->late = s->parts && (report->tree_differs || report->times_differ);
	s->parts = part ? s->parts + 1 : 0;
	if (s->message->alarm)
		report->fate = FATE_ALARM;
}

static bool report_is_fine(const struct plan_report *r)
{
	return !r->fate && !r->outcome_differs && !r->tree_differs && !r->times_differ;
}

/* One step; true if the plan continues behind it. */
static bool server_follow_step(struct channel_server *s, const struct plan_step *step,
			       struct plan_report *report)
{
	struct message *m = s->message;
	struct channel *c = &m->channel;
	struct outcome seen;

	server_move_clock(s, step);
	c->failure = s->call(s->own, &step->call, &seen, &c->err);
	times_call(&s->times);
	if (c->failure == -ETIME) {
		c->failure = 0;
		report->fate = FATE_HUNG;
	}
	if (m->alarm)
		report->fate = FATE_ALARM;
	if (c->failure || report->fate)
		return false;
	if (step->unjudged)
		return true;
	report->outcome_differs = step->exact && !outcome_equal(&step->expected, &seen);
	report->late = report->outcome_differs && s->parts;
	if (step->observe && !report->outcome_differs && s->attached(s->own))
		server_look(s, step, report);
	if (c->failure || report->fate == FATE_DIED)
		return false;
	if (step->exact && !step->reported && report_is_fine(report))
		return true;
	if (!channel_copy_outcome(c, &c->data, &seen, &report->outcome))
		c->failure = err_set(&c->err, E2BIG, "the call gave too many bytes");
	return false;
}

void channel_server_follow(struct channel_server *s)
{
	struct message *m = s->message;
	struct plan_report *report = &m->report;

	*report = (struct plan_report){ 0 };
	for (; report->done < m->step_count; report->done++) {
		atomic_fetch_add(&m->progress, 1);
		if (!s->attached(s->own)) {
			report->fate = FATE_DIED;
			return;
		}
		if (!server_follow_step(s, &m->steps[report->done], report))
			break;
	}
	if (report->done < m->step_count && report->fate == FATE_FINE && s->attached(s->own) &&
	    s->gone(s->own))
		report->fate = FATE_DIED;
}

void channel_server_observe(struct channel_server *s)
{
	struct message *m = s->message;
	struct channel *c = &m->channel;
	struct buf packed = BUF_INIT;
	struct tree tree;

	m->fate = !s->attached(s->own) || s->gone(s->own) ? FATE_DIED : server_scan(s, &tree);
	if (c->failure || m->fate)
		return;
	/* A death in the middle would look like objects that cannot be read. */
	if (s->gone(s->own)) {
		tree_free(&tree);
		m->fate = FATE_DIED;
		return;
	}
	times_record(&s->times, &tree);
	tree_pack(&tree, &packed);
	tree_free(&tree);
	if (!channel_fill(&c->data, buf_str(&packed), packed.len))
		c->failure = err_set(&c->err, E2BIG, "the tree is too large to be handed over");
	if (m->alarm)
		m->fate = FATE_ALARM;
	buf_free(&packed);
}
