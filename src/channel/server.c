/* server.c -- carrying out what stands on a channel: plans and walks. */
#include "channel/server.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "op/op.h"
#include "tree/pack.h"
#include "tree/scan.h"

enum { OBJECTS_MAX = 1 << 20 };

static const uint64_t file_bytes_max = (uint64_t)1 << 30;

/* Attributes that are the test's. Where a security module labels files, those are not. */
static const char *const prefixes[] = { "user.", "trusted.", "security.", NULL };
static const char *const prefixes_labelled[] = { "user.", "trusted.", NULL };

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

static enum target_fate walk(const struct channel_server *s, struct tree *ret)
{
	struct channel *b = s->channel;

	b->failure = s->walk(s->own, ret, &b->err);
	if (!is_death(b->failure))
		return FATE_FINE;
	b->failure = 0;
	return FATE_DIED;
}

static bool is_gone(const struct channel_server *s)
{
	return !s->attached(s->own) || s->gone(s->own);
}

/* One step; true if the plan goes on behind it. */
static bool follow_step(struct channel_server *s, const struct plan_step *step,
			struct plan_end *end)
{
	struct channel *b = s->channel;
	struct outcome seen;
	struct tree tree;

	b->failure = s->call(s->own, &step->call, &seen, &b->err);
	if (b->failure == -ETIME) {
		b->failure = 0;
		end->fate = FATE_HUNG;
	}
	if (b->alarm)
		end->fate = FATE_ALARM;
	if (b->failure || end->fate)
		return false;
	end->outcome_differs = step->exact && !outcome_equal(&step->expected, &seen);
	if (step->observe && !end->outcome_differs && s->attached(s->own)) {
		end->fate = walk(s, &tree);
		if (b->failure || end->fate)
			return false;
		end->tree_differs = !hash_equal(tree_hash(&tree), step->tree);
		tree_free(&tree);
		if (b->alarm)
			end->fate = FATE_ALARM;
	}
	if (step->exact && !end->fate && !end->outcome_differs && !end->tree_differs)
		return true;
	if (!channel_answer(b, &seen, &end->outcome))
		b->failure = err_set(&b->err, E2BIG, "the call gave too many bytes");
	return false;
}

void channel_server_follow(struct channel_server *s)
{
	struct channel *b = s->channel;

	b->end = (struct plan_end){ 0 };
	for (; b->end.done < b->step_count; b->end.done++) {
		atomic_fetch_add(&b->progress, 1);
		if (!s->attached(s->own)) {
			b->end.fate = FATE_DIED;
			return;
		}
		if (!follow_step(s, &b->steps[b->end.done], &b->end))
			break;
	}
	if (b->end.done < b->step_count && b->end.fate == FATE_FINE && s->attached(s->own) &&
	    s->gone(s->own))
		b->end.fate = FATE_DIED;
}

void channel_server_observe(struct channel_server *s)
{
	struct channel *b = s->channel;
	struct buf packed = BUF_INIT;
	struct tree tree;

	b->fate = is_gone(s) ? FATE_DIED : walk(s, &tree);
	if (b->failure || b->fate)
		return;
	/* A death in the middle would look like objects that cannot be read. */
	if (s->gone(s->own)) {
		tree_free(&tree);
		b->fate = FATE_DIED;
		return;
	}
	tree_pack(&tree, &packed);
	tree_free(&tree);
	if (packed.len <= CHANNEL_ANSWER_MAX)
		memcpy(b->answer, buf_str(&packed), packed.len);
	else
		b->failure = err_set(&b->err, E2BIG, "the tree is too large to be handed over");
	b->answer_len = packed.len;
	if (b->alarm)
		b->fate = FATE_ALARM;
	buf_free(&packed);
}
