/* checkpoint.c -- a search put down and taken up again: DIR/checkpoint holds what was visited.
 *
 * It belongs to a strategy and to the universe it was made in, known by its fingerprint. Of the
 * open states of a branching search it has the calls that lead there: what the target saved is
 * gone, and is made again when their turn comes.
 *
 * A sealed file (sealed.h); in this order, all numbers of 64 bits where no other is given:
 *
 *   magic, fingerprint (2), calls and operations of the universe, nodes, paths, open states, mask
 *   and used words of bits, strategy, calls chosen, random numbers (4), figures (FIGURES)
 *   for each node: hash (2), calls tried and flags (32 each; 1: reached, 2: taken by this worker);
 * for each call: number, node (32)
 *   for each path: number of the one before it, call, node (32 each); 0 is none, the first is 1
 *   for each open state: hash (2), score, node, path, next, first, stride, dirty (32 each)
 *   for each used word of bits: place, bits
 *   for each operation: how often each outcome was seen; for each argument: how often each value
 * was used, and values of each partition that followed from states
 *
 * Who reads it believes nothing: a file with a good checksum may still be anyone's. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "explore/explorer.h"
#include "op/kind.h"
#include "run/sealed.h"

/* "assayX" and the version of all that follows. */
static const uint64_t magic_any = UINT64_C(0x0000587961737361);
static const uint64_t magic_mask = UINT64_C(0x0000ffffffffffff);
static const uint64_t magic = UINT64_C(0x0a35587961737361);

enum { FIGURES = 9 };
enum { FLAG_REACHED = 1, FLAG_MINE = 2 }; /* of a node */

struct checkpoint_header {
	struct hash fingerprint;
	uint64_t calls, ops, nodes, paths, open_states, bits_mask, bits_used, strategy, chosen;
	struct rng rng;
	uint64_t figures[FIGURES];
};

struct hash checkpoint_fingerprint(const struct universe *u)
{
	struct buf text = BUF_INIT;
	struct hash hash;

	buf_addf(&text, "%zu %zu %llu\n", u->nodes_max, u->files_max,
		 (unsigned long long)u->size_max);
	for (size_t i = 1; i < u->processes; i++)
		buf_addf(&text, "%u\n", u->users[i - 1]);
	for (size_t op = 0; op < u->op_count; op++) {
		const struct op_info *info = &op_table[u->ops[op].op];

		buf_addf(&text, "%s\n", info->name);
		for (unsigned i = 0; i < info->args; i++)
			for (size_t v = 0; v < u->ops[op].pools[i].count; v++) {
				const struct arg *value = &u->ops[op].pools[i].values[v];

				if (value->nearby)
					buf_addf(&text, "nearby %u", value->nearby);
				else
					arg_print(value, info->arg[i].kind, &text);
				buf_addch(&text, '\n');
			}
	}
	hash = hash128(text.data, text.len, 0);
	buf_free(&text);
	return hash;
}

/* The figures that go on counting, by their places in the file. */
static uint64_t *checkpoint_figure(struct explore_figures *f, unsigned i)
{
	uint64_t *const all[FIGURES] = { &f->calls,      &f->transitions, &f->states,
					 &f->edges_left, &f->beyond,      &f->surprises,
					 &f->repeats,    &f->resets,      &f->differences };

	return all[i];
}

/* ---- writing ---- */

/* Calls that are left in the open states; each was counted when its state was found. */
static uint64_t open_list_calls(const struct open_list *l, uint64_t calls)
{
	uint64_t left = 0;

	for (size_t i = l->head; i < l->tail; i++)
		left += calls - l->items[i]->next;
	return left;
}

/* The figures as they are if no other worker has anything: who takes up the search asks again. */
static struct explore_figures checkpoint_figures(const struct explorer *x)
{
	struct explore_figures f = x->figures;

	f.edges_left += open_list_calls(&x->foreign, x->universe->calls) +
			open_list_calls(&x->received, x->universe->calls);
	return f;
}

static void checkpoint_put_header(struct sealed_writer *w, struct explorer *x)
{
	const struct universe *u = x->universe;
	struct explore_figures figures = checkpoint_figures(x);

	sealed_put_u64(w, magic);
	sealed_put_hash(w, checkpoint_fingerprint(u));
	sealed_put_u64(w, u->calls);
	sealed_put_u64(w, u->op_count);
	sealed_put_u64(w, x->graph.count);
	sealed_put_u64(w, x->list.paths.count);
	sealed_put_u64(w, open_list_count(&x->list) + open_list_count(&x->foreign) +
				  open_list_count(&x->received));
	sealed_put_u64(w, x->bits.mask);
	sealed_put_u64(w, x->bits.used);
	sealed_put_u64(w, x->options->strategy);
	sealed_put_u64(w, x->chosen);
	for (size_t i = 0; i < ARRAY_LEN(x->rng.s); i++)
		sealed_put_u64(w, x->rng.s[i]);
	for (unsigned i = 0; i < FIGURES; i++)
		sealed_put_u64(w, *checkpoint_figure(&figures, i));
}

/* How often each value was used, and values of each partition that followed from states. */
static void checkpoint_put_pool(struct sealed_writer *w, const struct tally *t, size_t op,
				unsigned arg)
{
	const struct universe_op *of = &t->universe->ops[op];
	const uint64_t *found = t->found.inputs[of->op][arg];

	for (size_t v = 0; v < of->pools[arg].count; v++)
		sealed_put_u64(w, t->pools[op][arg].made[v]);
	for (size_t p = 0; p < kind_partitions(op_table[of->op].arg[arg].kind); p++)
		sealed_put_u64(w, found ? found[p] : 0);
}

static void checkpoint_put_tally(struct sealed_writer *w, const struct tally *t)
{
	for (size_t op = 0; op < t->universe->op_count; op++) {
		for (size_t error = 0; error < COVER_ERRNOS; error++)
			sealed_put_u64(w, t->outcomes[op][error]);
		for (unsigned i = 0; i < op_table[t->universe->ops[op].op].args; i++)
			checkpoint_put_pool(w, t, op, i);
	}
}

/* What another worker has made, it may not have kept. */
static void checkpoint_put_node(struct sealed_writer *w, const struct graph *g, uint32_t n)
{
	const struct node *node = graph_node(g, n);
	uint32_t tried = 0;
	struct edge edge;

	for (uint32_t at = 0; graph_next_edge(g, n, &at, &edge);)
		tried += edge.to != NODE_ELSEWHERE;
	sealed_put_hash(w, node->hash);
	sealed_put_u32(w, tried);
	sealed_put_u32(w, (node->reached ? FLAG_REACHED : 0) |
				  (node->whose == NODE_MINE ? FLAG_MINE : 0));
	for (uint32_t at = 0; graph_next_edge(g, n, &at, &edge);) {
		if (edge.to == NODE_ELSEWHERE)
			continue;
		sealed_put_u32(w, edge.call);
		sealed_put_u32(w, edge.to);
	}
}

/* The part of a path that has no numbers yet, from its beginning on. */
static void checkpoint_put_path(struct sealed_writer *w, struct call_path *last, uint32_t *count)
{
	struct call_path **part, *path = last;
	size_t len = 0;

	for (; path && !path->number; path = path->from)
		len++;
	part = must_alloc((len + 1) * sizeof(*part));
	path = last;
	for (size_t i = len; i--; path = path->from)
		part[i] = path;
	for (size_t i = 0; i < len; i++) {
		part[i]->number = ++*count;
		sealed_put_u32(w, part[i]->from ? part[i]->from->number : 0);
		sealed_put_u32(w, part[i]->call);
		sealed_put_u32(w, part[i]->node);
	}
	free(part);
}

static void checkpoint_put_open_state(struct sealed_writer *w, const struct open_state *o)
{
	uint64_t score;

	memcpy(&score, &o->score, sizeof(score));
	sealed_put_hash(w, o->hash);
	sealed_put_u64(w, score);
	sealed_put_u32(w, o->node);
	sealed_put_u32(w, o->path ? o->path->number : 0);
	sealed_put_u32(w, o->next);
	sealed_put_u32(w, o->first);
	sealed_put_u32(w, o->stride);
	sealed_put_u32(w, o->dirty);
}

/* Also those that other workers have: they may be free when the search is taken up again. */
static void checkpoint_put_open_states(struct sealed_writer *w, const struct explorer *x)
{
	const struct open_list *const lists[] = { &x->list, &x->foreign, &x->received };
	uint32_t paths = 0;

	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = lists[k]->head; i < lists[k]->tail; i++)
			checkpoint_put_path(w, lists[k]->items[i]->path, &paths);
	must(paths == x->list.paths.count);
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = lists[k]->head; i < lists[k]->tail; i++)
			checkpoint_put_open_state(w, lists[k]->items[i]);
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = lists[k]->head; i < lists[k]->tail; i++)
			for (struct call_path *path = lists[k]->items[i]->path;
			     path && path->number; path = path->from)
				path->number = 0;
}

/* Most words are 0: the others, each with its place. */
static void checkpoint_put_bits(struct sealed_writer *w, const struct bitstate *b)
{
	uint64_t left = b->used;

	for (uint64_t i = 0; left; i++) {
		if (!b->words[i])
			continue;
		sealed_put_u64(w, i);
		sealed_put_u64(w, b->words[i]);
		left--;
	}
}

/* Code that was run is in another file: jobs that are merged leave one each. */
static int checkpoint_write_code(const struct explorer *x, struct err *err)
{
	return x->reached ? code_save(x->options->code, x->reached->bits, x->run->dir, err) : 0;
}

/* One of several searches of a run has its own file. */
static struct buf checkpoint_path(const char *dir, const char *name)
{
	struct buf path = BUF_INIT;

	buf_addf(&path, "%s/" CHECKPOINT_NAME "%s%s", dir, name ? "-" : "", name ? name : "");
	return path;
}

bool checkpoint_is_there(const char *dir, const char *name)
{
	struct buf path = checkpoint_path(dir, name);
	bool is_there = !access(path.data, F_OK);

	buf_free(&path);
	return is_there;
}

int checkpoint_write(struct explorer *x, struct err *err)
{
	struct sealed_writer *w = must_alloc(sizeof(*w));
	struct buf path = checkpoint_path(x->run->dir, x->options->name);
	int status = sealed_create(w, path.data, err);

	if (!status) {
		checkpoint_put_header(w, x);
		for (uint32_t n = 0; n < x->graph.count; n++)
			checkpoint_put_node(w, &x->graph, n);
		checkpoint_put_open_states(w, x);
		checkpoint_put_bits(w, &x->bits);
		checkpoint_put_tally(w, &x->tally);
		status = sealed_finish(w, err);
	}
	buf_free(&path);
	free(w);
	return status ? status : checkpoint_write_code(x, err);
}

/* ---- reading ---- */

static int checkpoint_get_header(struct sealed_reader *r, struct checkpoint_header *h,
				 const char *path, struct err *err)
{
	uint64_t found = sealed_get_u64(r);

	if ((found & magic_mask) != magic_any)
		return err_set(err, EINVAL, "%s: not a checkpoint", path);
	if (found != magic)
		return err_set(err, EINVAL, "%s: of another version of assay", path);
	h->fingerprint = sealed_get_hash(r);
	h->calls = sealed_get_u64(r);
	h->ops = sealed_get_u64(r);
	h->nodes = sealed_get_u64(r);
	h->paths = sealed_get_u64(r);
	h->open_states = sealed_get_u64(r);
	h->bits_mask = sealed_get_u64(r);
	h->bits_used = sealed_get_u64(r);
	h->strategy = sealed_get_u64(r);
	h->chosen = sealed_get_u64(r);
	for (size_t i = 0; i < ARRAY_LEN(h->rng.s); i++)
		h->rng.s[i] = sealed_get_u64(r);
	for (unsigned i = 0; i < FIGURES; i++)
		h->figures[i] = sealed_get_u64(r);
	return 0;
}

static int checkpoint_check_header(const struct explorer *x, const struct checkpoint_header *h,
				   const char *path, struct err *err)
{
	const struct universe *u = x->universe;

	if (!hash_equal(h->fingerprint, checkpoint_fingerprint(u)) || h->calls != u->calls ||
	    h->ops != u->op_count)
		return err_set(err, EINVAL, "%s: made with another profile or target", path);
	if (h->strategy != x->options->strategy || h->bits_mask != x->bits.mask)
		return err_set(err, EINVAL, "%s: made with another strategy or memory: %s%s", path,
			       strategy_names[h->strategy % STRATEGIES],
			       h->bits_mask ? ", bitstate" : "");
	return 0;
}

static void checkpoint_get_pool(struct sealed_reader *r, struct tally *t, size_t op, unsigned arg)
{
	const struct universe_op *of = &t->universe->ops[op];
	size_t partitions = kind_partitions(op_table[of->op].arg[arg].kind);
	uint64_t **found = &t->found.inputs[of->op][arg];

	for (size_t v = 0; v < of->pools[arg].count; v++)
		t->pools[op][arg].made[v] = sealed_get_u64(r);
	if (!*found)
		*found = must_alloc((partitions + 1) * sizeof(**found)); /* some have none */
	for (size_t p = 0; p < partitions; p++)
		(*found)[p] = sealed_get_u64(r);
}

static void checkpoint_get_tally(struct sealed_reader *r, struct tally *t)
{
	for (size_t op = 0; op < t->universe->op_count; op++) {
		for (size_t error = 0; error < COVER_ERRNOS; error++)
			t->outcomes[op][error] = sealed_get_u64(r);
		for (unsigned i = 0; i < op_table[t->universe->ops[op].op].args; i++)
			checkpoint_get_pool(r, t, op, i);
	}
}

/* A place that a search can be in: where only bits are kept of it, no node. */
static bool checkpoint_is_place(const struct explorer *x, uint32_t n)
{
	return n < x->graph.count || (n == NODE_NONE && x->bits.words);
}

/* A node and what was tried in it; the nodes that it leads to may come later. */
static bool checkpoint_get_node(struct sealed_reader *r, struct explorer *x,
				const struct checkpoint_header *h)
{
	struct hash hash = sealed_get_hash(r);
	uint32_t tried = sealed_get_u32(r), flags = sealed_get_u32(r), call, to, n;
	bool is_new;

	if (r->ended || flags > (FLAG_REACHED | FLAG_MINE) || graph_is_full(&x->graph))
		return false;
	n = graph_put(&x->graph, hash, &is_new);
	for (uint32_t i = 0; i < tried; i++) {
		call = sealed_get_u32(r);
		to = sealed_get_u32(r);
		if (r->ended || call >= h->calls || (to != NODE_BEYOND && to >= h->nodes))
			return false;
		graph_set_edge(&x->graph, n, call, to);
	}
	if (flags & FLAG_REACHED)
		graph_reach(&x->graph, n);
	if (flags & FLAG_MINE && x->share)
		graph_set_whose(&x->graph, n, NODE_MINE);
	return is_new && node_tried(graph_node(&x->graph, n)) == tried;
}

static bool checkpoint_get_path(struct sealed_reader *r, struct explorer *x,
				struct call_path **paths, uint64_t i)
{
	uint32_t from = sealed_get_u32(r), call = sealed_get_u32(r), node = sealed_get_u32(r);

	if (r->ended || from > i || call >= x->universe->calls || !checkpoint_is_place(x, node) ||
	    (from && call_path_depth(paths[from - 1]) >= HISTORY_MAX))
		return false;
	paths[i] = call_path_new(&x->list.paths, from ? paths[from - 1] : NULL, call, node);
	return true;
}

static bool checkpoint_get_open_state(struct sealed_reader *r, struct explorer *x,
				      struct call_path **paths, const struct checkpoint_header *h)
{
	struct hash hash = sealed_get_hash(r);
	uint64_t score = sealed_get_u64(r);
	uint32_t node = sealed_get_u32(r), path = sealed_get_u32(r);
	struct open_state *o;

	if (r->ended || !checkpoint_is_place(x, node) || path > h->paths)
		return false;
	o = open_state_new(&x->list, hash, node, path ? paths[path - 1] : NULL);
	memcpy(&o->score, &score, sizeof(score));
	o->next = sealed_get_u32(r);
	o->first = sealed_get_u32(r);
	o->stride = sealed_get_u32(r);
	o->dirty = sealed_get_u32(r);
	open_list_add(&x->list, o);
	return !r->ended && isfinite(o->score) && open_state_has_order(o, h->calls);
}

/* Paths that no open state needs are not kept. */
static bool checkpoint_get_open_states(struct sealed_reader *r, struct explorer *x,
				       const struct checkpoint_header *h)
{
	enum { PATH_BYTES = 12 };
	struct call_path **paths;
	uint64_t count = 0;
	bool fine = true;

	if (h->paths > sealed_left(r) / PATH_BYTES)
		return false;
	paths = must_alloc((h->paths + 1) * sizeof(*paths));
	while (fine && count < h->paths) {
		fine = checkpoint_get_path(r, x, paths, count);
		count += fine;
	}
	for (uint64_t i = 0; fine && i < h->open_states; i++)
		fine = checkpoint_get_open_state(r, x, paths, h);
	for (uint64_t i = count; i--;)
		call_path_drop(&x->list.paths, paths[i]);
	free(paths);
	return fine;
}

static bool checkpoint_get_bits(struct sealed_reader *r, struct bitstate *b, uint64_t used)
{
	uint64_t at, bits;

	for (; b->used < used; b->used++) {
		at = sealed_get_u64(r);
		bits = sealed_get_u64(r);
		if (r->ended || !b->words || at > b->mask / 64 || b->words[at] || !bits)
			return false;
		b->words[at] = bits;
	}
	return true;
}

/* Do the figures agree with what was read? */
static bool checkpoint_figures_fit(const struct explorer *x)
{
	const struct explore_figures *f = &x->figures;
	uint64_t reached = 0;

	if (strategy_branches(x->options->strategy) &&
	    f->edges_left < open_list_calls(&x->list, x->universe->calls))
		return false;
	for (uint32_t n = 0; n < x->graph.count; n++)
		reached += graph_node(&x->graph, n)->reached;
	return x->bits.words ? f->states >= reached : f->states == reached;
}

static bool checkpoint_get_rest(struct sealed_reader *r, struct explorer *x,
				const struct checkpoint_header *h)
{
	for (uint64_t n = 0; n < h->nodes; n++)
		if (!checkpoint_get_node(r, x, h))
			return false;
	if (!checkpoint_get_open_states(r, x, h) || !checkpoint_get_bits(r, &x->bits, h->bits_used))
		return false;
	checkpoint_get_tally(r, &x->tally);
	if (sealed_left(r))
		return false;
	x->rng = h->rng;
	x->chosen = h->chosen;
	for (unsigned i = 0; i < FIGURES; i++)
		*checkpoint_figure(&x->figures, i) = h->figures[i];
	return !r->ended && checkpoint_figures_fit(x) &&
	       (x->rng.s[0] | x->rng.s[1] | x->rng.s[2] | x->rng.s[3]);
}

/* Opens what is sealed in a file and reads its header. */
static int checkpoint_open_sealed(struct sealed_reader *r, int fd, struct checkpoint_header *h,
				  const char *path, struct err *err)
{
	int status = sealed_read(r, fd);

	if (status == -EBADMSG)
		return err_set(err, EINVAL, "%s: not a checkpoint, cut short or damaged", path);
	if (status)
		return err_sys(err, -status, "cannot read %s", path);
	return checkpoint_get_header(r, h, path, err);
}

int checkpoint_load(struct explorer *x, int fd, const char *path, struct err *err)
{
	struct sealed_reader *r = must_alloc(sizeof(*r));
	struct checkpoint_header h;
	int status = checkpoint_open_sealed(r, fd, &h, path, err);

	if (!status)
		status = checkpoint_check_header(x, &h, path, err);
	if (!status && !checkpoint_get_rest(r, x, &h))
		status = err_set(err, EINVAL, "%s: its contents contradict themselves", path);
	free(r);
	return status;
}

static int checkpoint_open(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_sys(err, errno, "cannot read %s", path) : fd;
}

int checkpoint_read(struct explorer *x, struct err *err)
{
	struct buf path = checkpoint_path(x->run->dir, x->options->name);
	int fd = checkpoint_open(path.data, err), status = fd;

	if (fd >= 0) {
		status = checkpoint_load(x, fd, path.data, err);
		close(fd);
	}
	buf_free(&path);
	return status;
}

/* The hashes of nodes that were reached; their edges are passed over. */
static bool checkpoint_get_hashes(struct sealed_reader *r, const struct checkpoint_header *h,
				  struct hash_map *into)
{
	for (uint64_t n = 0; n < h->nodes && !r->ended; n++) {
		struct hash hash = sealed_get_hash(r);
		uint64_t tried = sealed_get_u32(r), flags = sealed_get_u32(r);

		sealed_skip(r, tried * 2 * sizeof(uint32_t));
		if (!r->ended && flags & FLAG_REACHED)
			hash_map_put(into, hash, NULL);
	}
	return !r->ended;
}

static int checkpoint_add_states(const char *path, struct hash_map *into, struct err *err)
{
	struct sealed_reader *r = must_alloc(sizeof(*r));
	int fd = checkpoint_open(path, err), status = fd;
	struct checkpoint_header h;

	if (fd >= 0) {
		status = checkpoint_open_sealed(r, fd, &h, path, err);
		if (!status && !checkpoint_get_hashes(r, &h, into))
			status = err_set(err, EINVAL, "%s: its contents contradict themselves",
					 path);
		close(fd);
	}
	free(r);
	return status;
}

int explore_states(const char *dir, struct hash_map *into, struct err *err)
{
	struct buf pattern = BUF_INIT;
	glob_t found = { 0 };
	int status = 0;

	buf_addf(&pattern, "%s/" CHECKPOINT_NAME "*", dir);
	if (!glob(pattern.data, GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc && !status; i++)
			status = checkpoint_add_states(found.gl_pathv[i], into, err);
	globfree(&found);
	buf_free(&pattern);
	return status;
}
