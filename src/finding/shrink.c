/* shrink.c -- the shortest calls that still show a finding: fewest, then simplest.
 *
 * Fewest: pieces are left out, halves first, then smaller ones down to single calls, again and
 * again until no single call can go (ddmin's reduction to complements); then single calls whose
 * effect the others can do without (merge.c). Simplest: one argument at a time (simplify.c). Every
 * candidate is replayed from a fresh file system with the tree observed after each call, and taken
 * if the signature is the same; the replay also cuts off what comes behind the discrepancy. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "channel/limits.h"
#include "finding/finding.h"
#include "finding/imagine.h"
#include "finding/merge.h"
#include "finding/prove.h"
#include "finding/simplify.h"

/* Fewer calls than these are replayed as fast as they are thought about. */
enum { IMAGINED_MIN = 12 };

struct shrink {
	struct finding *finding;
	const struct replay_on *on;
	const struct imagined *imagined; /* candidates are tried in the model, not replayed */
	unsigned tries_left;
	char group[SIGNATURE_MAX]; /* of what was met */
};

/* The same calls, to be shrunk; nothing else of it is needed for that. */
static void copy_calls(struct finding *to, const struct discrepancy *d, const struct call *calls,
		       size_t count)
{
	finding_init(to);
	to->discrepancy.code = d->code;
	memcpy(to->discrepancy.signature, d->signature, sizeof(to->discrepancy.signature));
	finding_reserve(to, count);
	for (size_t i = 0; i < count; i++)
		to->calls[i] = call_copy(&calls[i], &to->arena);
	to->count = count;
}

static void shrink_take(struct shrink *s, const struct finding *candidate)
{
	finding_free(s->finding);
	*s->finding = *candidate;
}

/* One signature may have several causes, as a value of stat: a known one must not take the place of
 * that which was met. */
static bool shrink_keeps_cause(const struct shrink *s, const struct finding *candidate)
{
	char group[SIGNATURE_MAX];

	finding_group(candidate, group);
	return !strcmp(s->group, group);
}

/* Replays a candidate; where it shows the same, it becomes the finding. 1 if so. */
static int try_calls(struct shrink *s, const struct call *calls, size_t count, struct err *err)
{
	struct finding candidate;
	int status;

	if (!s->tries_left || !count)
		return 0;
	s->tries_left--;
	if (s->imagined) {
		if (!imagine_shows(s->imagined, calls, count))
			return 0;
		copy_calls(&candidate, &s->finding->discrepancy, calls, count);
		shrink_take(s, &candidate);
		return 1;
	}
	status = judge_replay(s->on, calls, count, s->finding->discrepancy.signature, &candidate,
			      err);
	if (status <= 0) /* a candidate that would take too much space is not made */
		return err_forget(err, status, LIMITS_NOT_MADE);
	if (!shrink_keeps_cause(s, &candidate)) {
		finding_free(&candidate);
		return 0;
	}
	shrink_take(s, &candidate);
	return 1;
}

static int try_without(struct shrink *s, size_t from, size_t len, struct err *err)
{
	struct finding *f = s->finding;
	struct call *calls = must_alloc((f->count + 1) * sizeof(*calls));
	size_t kept = f->count - len;
	int status;

	memcpy(calls, f->calls, from * sizeof(*calls));
	memcpy(calls + from, f->calls + from + len, (kept - from) * sizeof(*calls));
	status = try_calls(s, calls, kept, err);
	free(calls);
	return status;
}

/* Leaves out pieces of this length, from the end on: what is near the discrepancy matters, and
 * what is far mostly does not. Returns 1 if some could go. */
static int drop_pieces(struct shrink *s, size_t len, struct err *err)
{
	int dropped = 0, status;
	size_t from = s->finding->count;

	while (from) {
		from = from > len ? from - len : 0;
		if (from + len > s->finding->count)
			continue;
		status = try_without(s, from, len, err);
		if (status < 0)
			return status;
		dropped |= status;
	}
	return dropped;
}

static int drop_calls(struct shrink *s, struct err *err)
{
	size_t len = s->finding->count / 2;
	int status;

	while (len && s->tries_left) {
		status = drop_pieces(s, len, err);
		if (status < 0)
			return status;
		if (len > 1)
			len /= 2;
		else if (!status)
			break;
	}
	return 0;
}

/* Leaves out single calls together with what they made; 1 if some could go. */
static int merge_calls(struct shrink *s, struct err *err)
{
	struct call *calls = must_alloc((s->finding->count + 1) * sizeof(*calls));
	struct arena arena = ARENA_INIT;
	int merged = 0, status = 0;
	size_t count;

	for (size_t i = 0; i < s->finding->count && status >= 0; i++)
		for (unsigned way = 0; way < MERGE_WAYS && i < s->finding->count; way++) {
			if (!merge_call(s->finding->calls, s->finding->count, i, way, calls, &count,
					&arena))
				continue;
			status = try_calls(s, calls, count, err);
			if (status < 0)
				break;
			merged |= status;
		}
	arena_free(&arena);
	free(calls);
	return status < 0 ? status : merged;
}

static int fewest_calls(struct shrink *s, struct err *err)
{
	int status;

	do {
		status = drop_calls(s, err);
		if (status >= 0)
			status = merge_calls(s, err);
	} while (status > 0 && s->tries_left);
	return status;
}

/* One pass over all arguments; continues with the next argument where a candidate was taken.
 * Returns 1 if some were. */
static int simplify_calls(struct shrink *s, struct err *err)
{
	struct simplify simplify = { .arena = ARENA_INIT };
	int taken = 0, status = 0;

	simplify_start(&simplify, s->finding->calls, s->finding->count);
	while (status >= 0 && s->tries_left && simplify_next(&simplify)) {
		status = try_calls(s, simplify.calls, simplify.count, err);
		if (status > 0)
			simplify_start(&simplify, s->finding->calls, s->finding->count);
		taken |= status > 0;
	}
	simplify_end(&simplify);
	return status < 0 ? status : taken;
}

/* What the model can do without is left out first, if one replay shows the finding without it: 1 if
 * so. */
static int shrink_as_imagined(struct shrink *s, struct imagined *im, enum imagine_level level,
			      struct err *err)
{
	struct shrink in_model = { .on = s->on, .imagined = im, .tries_left = UINT_MAX };
	struct finding fewer;
	int status;

	imagine_expect(im, s->finding, level);
	copy_calls(&fewer, &s->finding->discrepancy, s->finding->calls, s->finding->count);
	in_model.finding = &fewer;
	fewest_calls(&in_model, err);
	status = fewer.count < s->finding->count ? try_calls(s, fewer.calls, fewer.count, err) : 0;
	finding_free(&fewer);
	return status;
}

static int imagine_fewer_calls(struct shrink *s, const struct discrepancy *met, struct err *err)
{
	struct imagined im;
	int status;

	if (s->finding->count < IMAGINED_MIN)
		return 0;
	status = imagine_begin(&im, met, s->on, err);
	if (status)
		return status;
	for (enum imagine_level level = 0; level < IMAGINE_LEVELS && !status; level++)
		status = shrink_as_imagined(s, &im, level, err);
	imagine_end(&im);
	return status < 0 ? status : 0;
}

/* met: what its first replay saw. */
static int shrink_met(struct finding *f, const struct finding *met, const struct replay_on *on,
		      unsigned tries_max, struct err *err)
{
	struct shrink s = { .finding = f, .on = on, .tries_left = tries_max };
	int status;

	finding_group(met, s.group);
	status = imagine_fewer_calls(&s, &met->discrepancy, err);
	if (status >= 0)
		status = fewest_calls(&s, err);
	while (status >= 0 && s.tries_left) {
		status = simplify_calls(&s, err);
		if (status <= 0)
			break;
		status = fewest_calls(&s, err);
	}
	f->shrunk = status == 0 && s.tries_left;
	return status < 0 ? err_forget(err, status, ETIME) : 0;
}

int finding_shrink(struct finding *f, const struct replay_on *on, unsigned tries_max,
		   struct err *err)
{
	struct finding smaller, met = *f;
	int status;

	copy_calls(&smaller, &f->discrepancy, f->calls, f->count);
	status = shrink_met(&smaller, &met, on, tries_max, err);
	met.shrunk = smaller.shrunk;
	*f = smaller.shown ? smaller : met;
	finding_free(smaller.shown ? &met : &smaller);
	return status;
}

static int prove_and_verify(struct finding *f, const struct replay_on *on, unsigned times,
			    struct err *err)
{
	int status = finding_prove(f, on->target, on->until_seconds, err);

	/* What a replay leaves behind is what is kept as evidence. */
	return status ? status : finding_verify(f, on, times, err);
}

/* A proof of many calls is worth more than few calls without one: it has its share of the time. */
static struct replay_on shrink_on(const struct replay_on *on)
{
	static const double share = 0.6;
	struct replay_on shorter = *on;
	double now = clock_seconds();

	if (on->until_seconds > now)
		shorter.until_seconds = now + share * (on->until_seconds - now);
	return shorter;
}

int finding_improve(struct finding *f, const struct replay_on *on, unsigned tries_max,
		    unsigned times, struct err *err)
{
	const struct replay_on shorter = shrink_on(on);
	struct finding smaller, given = *f;
	int status;

	copy_calls(&smaller, &f->discrepancy, f->calls, f->count);
	status = shrink_met(&smaller, &given, &shorter, tries_max, err);
	f->shrunk = smaller.shrunk;
	if (!status && smaller.shown)
		status = prove_and_verify(&smaller, on, times, err);
	if (smaller.shown > 1 || (smaller.shown && smaller.tries == 1)) {
		*f = smaller;
		finding_take_remarks(f, &given);
		finding_free(&given);
		return status;
	}
	if (smaller.shown) {
		f->shrunk = false;
		buf_adds(&f->notes, "Fewer calls have shown it once, but not again.\n");
	}
	finding_free(&smaller);
	return status ? status : prove_and_verify(f, on, times, err);
}
