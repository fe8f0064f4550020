/* checkpoint.c -- a search put down and taken up again: DIR/checkpoint holds what was visited.
 *
 * Written beside and renamed, so that there is always a whole one. A checkpoint belongs to the
 * universe it was made in, which its fingerprint tells, to a strategy and to this byte order. Of
 * the open states of a branching search it has the calls that lead there: what the target saved
 * is gone, and is made again when their turn comes. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "explore/explorer.h"
#include "op/kind.h"

/* A node without its edges. */
struct node_row {
	struct hash hash;
	uint32_t tried, reached, via_node, via_call;
};

struct opening_row {
	struct hash hash;
	double score;
	uint32_t node, call, depth, next, first, stride, dirty;
};

struct header {
	char magic[8];
	struct hash fingerprint;
	uint64_t calls, ops, nodes, openings, bits_mask, bits_used, chosen;
	uint64_t strategy;
	struct rng rng;
	struct explore_figures figures;
};

static const char magic[8] = "assayX3";

/* Everything that numbers calls and bounds states. */
static struct hash fingerprint(const struct universe *u)
{
	struct buf text = BUF_INIT;
	struct hash hash;

	buf_addf(&text, "%zu %llu\n", u->nodes_max, (unsigned long long)u->size_max);
	for (size_t op = 0; op < u->op_count; op++) {
		const struct op_info *info = &op_table[u->ops[op].op];

		buf_addf(&text, "%s\n", info->name);
		for (unsigned i = 0; i < info->args; i++)
			for (size_t v = 0; v < u->ops[op].pools[i].count; v++) {
				arg_print(&u->ops[op].pools[i].values[v], info->arg[i].kind, &text);
				buf_addch(&text, '\n');
			}
	}
	hash = hash128(text.data, text.len, 0);
	buf_free(&text);
	return hash;
}

static void put(FILE *file, const void *data, size_t len)
{
	fwrite(data, 1, len, file); /* errors show in ferror at the end */
}

static void put_node(FILE *file, const struct node *node)
{
	struct node_row row = { node->hash, node->tried, node->reached, node->via_node,
				node->via_call };

	put(file, &row, sizeof(row));
	for (uint32_t i = 0; i < node->edge_cap; i++)
		if (node->edges[i].call != NODE_NONE && node->edges[i].to != NODE_NONE)
			put(file, &node->edges[i], sizeof(node->edges[i]));
}

static void put_opening(FILE *file, const struct opening *o)
{
	struct opening_row row = {
		.hash = o->hash,
		.score = o->score,
		.node = o->node,
		.call = o->call,
		.depth = o->depth,
		.next = o->next,
		.first = o->first,
		.stride = o->stride,
		.dirty = o->dirty,
	};

	put(file, &row, sizeof(row));
}

/* Most words are 0: the others, each with its place. */
static void put_bits(FILE *file, const struct bitstate *b)
{
	uint64_t row[2], left = b->used;

	for (uint64_t i = 0; left; i++) {
		if (!b->words[i])
			continue;
		row[0] = i;
		row[1] = b->words[i];
		put(file, row, sizeof(row));
		left--;
	}
}

static void put_all(FILE *file, const struct explorer *x)
{
	const struct universe *u = x->universe;
	struct header h = {
		.fingerprint = fingerprint(u),
		.calls = u->calls,
		.ops = u->op_count,
		.nodes = x->graph.count,
		.openings = x->list.tail - x->list.head,
		.bits_mask = x->bits.mask,
		.bits_used = x->bits.used,
		.strategy = x->options->strategy,
		.chosen = x->chosen,
		.rng = x->rng,
		.figures = x->figures,
	};

	memcpy(h.magic, magic, sizeof(h.magic));
	h.figures.end = NULL;
	put(file, &h, sizeof(h));
	put(file, x->tally.calls, u->calls * sizeof(*x->tally.calls));
	put(file, x->tally.outcomes, u->op_count * sizeof(*x->tally.outcomes));
	for (uint32_t n = 0; n < x->graph.count; n++)
		put_node(file, graph_node(&x->graph, n));
	for (size_t i = x->list.head; i < x->list.tail; i++)
		put_opening(file, x->list.items[i]);
	put_bits(file, &x->bits);
}

/* Code reached has a file of its own, which jobs that are merged leave each. */
static int write_code(const struct explorer *x, struct err *err)
{
	return x->reached ? code_save(x->options->code, x->reached->bits, x->run->dir, err) : 0;
}

int checkpoint_write(struct explorer *x, struct err *err)
{
	char path[PATH_MAX], beside[PATH_MAX];
	FILE *file;
	bool fine;

	snprintf(path, sizeof(path), "%s/checkpoint", x->run->dir);
	snprintf(beside, sizeof(beside), "%s/checkpoint.new", x->run->dir);
	file = fopen(beside, "we");
	if (!file)
		return err_sys(err, errno, "cannot write %s", beside);
	put_all(file, x);
	fine = !fflush(file) && !fsync(fileno(file)) && !ferror(file);
	if (fclose(file) || !fine || rename(beside, path)) {
		err_sys(err, errno, "cannot write %s", path);
		unlink(beside); /* what is left of a full disk is for findings */
		return -EIO;
	}
	return write_code(x, err);
}

static bool get(FILE *file, void *data, size_t len)
{
	return fread(data, 1, len, file) == len;
}

static bool get_node(FILE *file, struct explorer *x)
{
	struct node_row row;
	struct edge edge;
	struct node *node;
	uint32_t n;
	bool is_new;

	if (!get(file, &row, sizeof(row)))
		return false;
	n = graph_put(&x->graph, row.hash, &is_new);
	node = graph_node(&x->graph, n);
	node->reached = row.reached & 1;
	node->via_node = row.via_node;
	node->via_call = row.via_call;
	for (uint32_t i = 0; i < row.tried; i++) {
		if (!get(file, &edge, sizeof(edge)) || edge.call >= x->universe->calls)
			return false;
		graph_set_edge(&x->graph, n, edge.call, edge.to);
	}
	return true;
}

/* Are there calls that lead to it? On a stack they are those of the openings below. */
static bool has_way(const struct explorer *x, const struct opening_row *row)
{
	uint32_t at = row->node;

	if (row->call >= x->universe->calls || row->depth >= HISTORY_MAX)
		return false;
	if (open_list_is_stack(&x->list))
		return row->depth == x->list.tail;
	for (uint32_t i = row->depth; i--; at = graph_node(&x->graph, at)->via_node)
		if (at >= x->graph.count ||
		    graph_node(&x->graph, at)->via_call >= x->universe->calls)
			return false;
	return at < x->graph.count;
}

static bool get_opening(FILE *file, struct explorer *x)
{
	struct opening_row row;
	struct opening *o;

	if (!get(file, &row, sizeof(row)) || !has_way(x, &row))
		return false;
	o = must_alloc(sizeof(*o));
	*o = (struct opening){
		.hash = row.hash,
		.score = row.score,
		.node = row.node,
		.call = row.call,
		.depth = row.depth,
		.next = row.next,
		.first = row.first,
		.stride = row.stride,
		.dirty = row.dirty,
	};
	open_list_add(&x->list, o);
	return true;
}

static bool get_openings(FILE *file, struct explorer *x, const struct header *h)
{
	for (uint64_t i = 0; i < h->openings; i++)
		if (!get_opening(file, x))
			return false;
	return true;
}

static bool get_bits(FILE *file, struct bitstate *b, uint64_t used)
{
	uint64_t row[2];

	for (; b->used < used; b->used++) {
		if (!get(file, row, sizeof(row)) || row[0] > b->mask / 64 || b->words[row[0]])
			return false;
		b->words[row[0]] = row[1];
	}
	return true;
}

static int get_all(FILE *file, struct explorer *x, const char *path, struct err *err)
{
	const struct universe *u = x->universe;
	struct header h;

	if (!get(file, &h, sizeof(h)) || memcmp(h.magic, magic, sizeof(magic)))
		return err_set(err, EINVAL, "%s: not a checkpoint", path);
	if (!hash_equal(h.fingerprint, fingerprint(u)) || h.calls != u->calls)
		return err_set(err, EINVAL, "%s: made with another profile or target", path);
	if (h.strategy != x->options->strategy || h.bits_mask != x->bits.mask)
		return err_set(err, EINVAL, "%s: made with another strategy or memory: %s%s", path,
			       strategy_names[h.strategy % STRATEGIES],
			       h.bits_mask ? ", bitstate" : "");
	if (!get(file, x->tally.calls, u->calls * sizeof(*x->tally.calls)) ||
	    !get(file, x->tally.outcomes, u->op_count * sizeof(*x->tally.outcomes)))
		return err_set(err, EINVAL, "%s: cut short", path);
	for (uint64_t n = 0; n < h.nodes; n++)
		if (!get_node(file, x))
			return err_set(err, EINVAL, "%s: cut short or damaged", path);
	for (uint32_t n = 0; n < x->graph.count; n++)
		if (!graph_is_sound(&x->graph, n))
			return err_set(err, EINVAL, "%s: damaged", path);
	if (!get_openings(file, x, &h) || !get_bits(file, &x->bits, h.bits_used))
		return err_set(err, EINVAL, "%s: cut short or damaged", path);
	x->rng = h.rng;
	x->chosen = h.chosen;
	x->figures = h.figures;
	x->figures.exhausted = false;
	return 0;
}

/* A node's hash; its edges are passed over. */
static bool get_hash(FILE *file, struct hash *ret, bool *ret_reached)
{
	struct node_row row;

	if (!get(file, &row, sizeof(row)))
		return false;
	*ret = row.hash;
	*ret_reached = row.reached & 1;
	return !fseek(file, (long)(row.tried * sizeof(struct edge)), SEEK_CUR);
}

int explore_states(const char *dir, struct hash_map *into, struct err *err)
{
	char path[PATH_MAX];
	struct header h;
	struct hash hash;
	bool reached, fine;
	FILE *file;

	snprintf(path, sizeof(path), "%s/checkpoint", dir);
	file = fopen(path, "re");
	if (!file)
		return err_sys(err, errno, "cannot read %s", path);
	fine = get(file, &h, sizeof(h)) && !memcmp(h.magic, magic, sizeof(magic)) &&
	       !fseek(file,
		      (long)(h.calls * sizeof(uint32_t) + h.ops * COVER_ERRNOS * sizeof(uint64_t)),
		      SEEK_CUR);
	for (uint64_t n = 0; fine && n < h.nodes; n++) {
		fine = get_hash(file, &hash, &reached);
		if (fine && reached)
			hash_map_put(into, hash, NULL);
	}
	fclose(file);
	return fine ? 0 : err_set(err, EINVAL, "%s: cut short or damaged", path);
}

int checkpoint_read(struct explorer *x, struct err *err)
{
	char path[PATH_MAX];
	FILE *file;
	int status;

	snprintf(path, sizeof(path), "%s/checkpoint", x->run->dir);
	file = fopen(path, "re");
	if (!file)
		return err_sys(err, errno, "cannot read %s", path);
	status = get_all(file, x, path, err);
	fclose(file);
	return status;
}
