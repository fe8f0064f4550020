/* checkpoint.c -- a tour put down and taken up again: DIR/checkpoint holds what was visited.
 *
 * Written beside and renamed, so that there is always a whole one. A checkpoint belongs to the
 * universe it was made in, which its fingerprint tells, and to this byte order. Branching
 * searches have no checkpoint: what they would need is saved inside the target. */
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

struct header {
	char magic[8];
	struct hash fingerprint;
	uint64_t calls, ops, nodes, chosen;
	struct rng rng;
	struct explore_figures figures;
};

static const char magic[8] = "assayX2";

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

static bool has_checkpoint(const struct explorer *x)
{
	return x->options->strategy == STRATEGY_TOUR || x->options->strategy == STRATEGY_RANDOM;
}

static void put(FILE *file, const void *data, size_t len)
{
	fwrite(data, 1, len, file); /* errors show in ferror at the end */
}

static void put_node(FILE *file, const struct node *node)
{
	uint32_t head[2] = { node->tried, node->reached };

	put(file, &node->hash, sizeof(node->hash));
	put(file, head, sizeof(head));
	for (uint32_t i = 0; i < node->edge_cap; i++)
		if (node->edges[i].call != NODE_NONE && node->edges[i].to != NODE_NONE)
			put(file, &node->edges[i], sizeof(node->edges[i]));
}

static void put_all(FILE *file, const struct explorer *x)
{
	const struct universe *u = x->universe;
	struct header h = {
		.fingerprint = fingerprint(u),
		.calls = u->calls,
		.ops = u->op_count,
		.nodes = x->graph.count,
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
}

int checkpoint_write(struct explorer *x, struct err *err)
{
	char path[PATH_MAX], beside[PATH_MAX];
	FILE *file;
	bool fine;

	if (!has_checkpoint(x))
		return 0;
	snprintf(path, sizeof(path), "%s/checkpoint", x->run->dir);
	snprintf(beside, sizeof(beside), "%s/checkpoint.new", x->run->dir);
	file = fopen(beside, "we");
	if (!file)
		return err_sys(err, errno, "cannot write %s", beside);
	put_all(file, x);
	fine = !fflush(file) && !fsync(fileno(file)) && !ferror(file);
	if (fclose(file) || !fine || rename(beside, path))
		return err_sys(err, errno, "cannot write %s", path);
	return 0;
}

static bool get(FILE *file, void *data, size_t len)
{
	return fread(data, 1, len, file) == len;
}

static bool get_node(FILE *file, struct explorer *x)
{
	struct hash hash;
	struct edge edge;
	uint32_t head[2], n;
	bool is_new;

	if (!get(file, &hash, sizeof(hash)) || !get(file, head, sizeof(head)))
		return false;
	n = graph_put(&x->graph, hash, &is_new);
	graph_node(&x->graph, n)->reached = head[1] & 1;
	for (uint32_t i = 0; i < head[0]; i++) {
		if (!get(file, &edge, sizeof(edge)) || edge.call >= x->universe->calls)
			return false;
		graph_set_edge(&x->graph, n, edge.call, edge.to);
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
	if (!get(file, x->tally.calls, u->calls * sizeof(*x->tally.calls)) ||
	    !get(file, x->tally.outcomes, u->op_count * sizeof(*x->tally.outcomes)))
		return err_set(err, EINVAL, "%s: cut short", path);
	for (uint64_t n = 0; n < h.nodes; n++)
		if (!get_node(file, x))
			return err_set(err, EINVAL, "%s: cut short or damaged", path);
	for (uint32_t n = 0; n < x->graph.count; n++)
		if (!graph_is_sound(&x->graph, n))
			return err_set(err, EINVAL, "%s: damaged", path);
	x->rng = h.rng;
	x->chosen = h.chosen;
	x->figures = h.figures;
	x->figures.exhausted = false;
	return 0;
}

/* A node's hash; its edges are passed over. */
static bool get_hash(FILE *file, struct hash *ret, bool *ret_reached)
{
	uint32_t head[2];

	if (!get(file, ret, sizeof(*ret)) || !get(file, head, sizeof(head)))
		return false;
	*ret_reached = head[1] & 1;
	return !fseek(file, (long)(head[0] * sizeof(struct edge)), SEEK_CUR);
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

	if (!has_checkpoint(x))
		return err_set(err, ENOTSUP, "only tour and random can be resumed");
	snprintf(path, sizeof(path), "%s/checkpoint", x->run->dir);
	file = fopen(path, "re");
	if (!file)
		return err_sys(err, errno, "cannot read %s", path);
	status = get_all(file, x, path, err);
	fclose(file);
	return status;
}
