/* nearby.c -- values of calls that follow from the state: what is asked for, and what is open. */
#include "plan/nearby.h"

#include <string.h>

#include "base/must.h"
#include "op/kind.h"
#include "plan/nearby_kinds.h"

enum { DRAWS = 32 }; /* before a state is said to have no value */

uint64_t nearby_pick(const struct nearby *n, unsigned place, uint64_t bound)
{
	uint64_t mixed = n->seed + (place + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);

	must(bound);
	/* The end of splitmix64; then the high half of a product instead of a remainder. */
	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	mixed ^= mixed >> 31;
	return (uint64_t)((unsigned __int128)mixed * bound >> 64);
}

/* ---- what a call is about ---- */

/* One component further; 0 if it is not there. */
static uint64_t nearby_step(const struct tree *t, uint64_t dir, const char *name, size_t len)
{
	const struct inode *inode = tree_inode(t, dir);
	const struct entry *entry;

	if (!inode || !S_ISDIR(inode->mode))
		return 0;
	if (!len || (len == 1 && name[0] == '.'))
		return dir;
	if (len == 2 && !memcmp(name, "..", 2))
		return inode->dir.parent;
	entry = tree_find(t, dir, name, len);
	return entry ? entry->ino : 0;
}

/* The length of a name, which a slash or the end ends; names are short. */
static size_t name_len(const char *name)
{
	size_t len = 0;

	while (name[len] && name[len] != '/')
		len++;
	return len;
}

/* As far as the path exists; *ret_rest is what is left of it. */
static uint64_t nearby_walk(const struct state *s, const char *path, const char **ret_rest)
{
	uint64_t at = TREE_ROOT, next;
	size_t len;

	for (*ret_rest = path; **ret_rest; *ret_rest = path) {
		while (*path == '/')
			path++;
		len = name_len(path);
		next = nearby_step(&s->tree, at, path, len);
		if (!next)
			return at;
		at = next;
		path += len;
	}
	return at;
}

uint64_t nearby_find(const struct state *s, const char *path)
{
	const char *rest;
	uint64_t at = nearby_walk(s, path, &rest);

	return *rest ? 0 : at;
}

bool nearby_is_free(const struct state *s, const char *path)
{
	const char *rest;

	nearby_walk(s, path, &rest);
	while (*rest == '/')
		rest++;
	return *rest && !rest[name_len(rest)];
}

uint64_t nearby_object(const struct nearby *n, unsigned arg)
{
	const struct op_info *info = &op_table[n->call->op];
	const struct open_file *file;
	const char *path;

	while (arg--) {
		switch (info->arg[arg].kind) {
		case KIND_FD:
			file = state_file(n->state, n->call->pid, n->call->arg[arg].num);
			return file ? file->ino : 0;
		case KIND_PATH:
			path = n->call->arg[arg].text;
			return path ? nearby_find(n->state, path) : 0;
		default:
			break;
		}
	}
	return 0;
}

/* ---- what is open ---- */

/* The place-th key of a map, in the order of keys. */
static bool nearby_key(const struct pmap *map, unsigned place, int64_t *ret)
{
	uint64_t key, last = 0;

	if (place >= map->count)
		return false;
	for (unsigned i = 0; i <= place; i++) {
		uint64_t next = UINT64_MAX;
		struct pmap_walk walk;

		pmap_walk(&walk, map);
		while (pmap_walk_next(&walk, &key))
			if ((!i || key > last) && key < next)
				next = key;
		if (next == UINT64_MAX)
			return false;
		last = next;
	}
	*ret = (int64_t)last;
	return true;
}

static bool nearby_descriptor(const struct nearby *n, unsigned arg, unsigned place)
{
	const struct process *process = state_process(n->state, n->call->pid);

	return process && nearby_key(&process->fds, place, &n->call->arg[arg].num);
}

static bool nearby_stream(const struct nearby *n, unsigned arg, unsigned place)
{
	const struct process *process = state_process(n->state, n->call->pid);

	return process && nearby_key(&process->streams, place, &n->call->arg[arg].num);
}

static bool nearby_map(const struct nearby *n, unsigned arg, unsigned place)
{
	const struct process *process = state_process(n->state, n->call->pid);

	return process && nearby_key(&process->maps, place, &n->call->arg[arg].num);
}

struct nearby_drawer {
	const struct universe *universe;
	const struct state *state;
	struct nearby_names *names;
};

/* Many draws are made in one state, and as many again in those that differ by offsets alone. */
static bool drawer_may_have_path(const struct nearby_drawer *d, unsigned place)
{
	struct nearby_names *names = d->names;
	struct hash tree = tree_hash(&d->state->tree);

	if (!names->known || !hash_equal(names->tree, tree))
		*names = (struct nearby_names){
			.tree = tree,
			.known = true,
			.any = nearby_any_name(d->state),
			.any_free = nearby_any_free(d->universe, d->state),
		};
	return place <= EXISTING_PLACES ? names->any : names->any_free;
}

/* Whether nearby_argument() can have a value; exactly, where that is cheap to know. */
static bool drawer_may_have(const void *to, unsigned pid, enum kind kind, unsigned place)
{
	const struct nearby_drawer *d = to;
	const struct process *process = state_process(d->state, pid);

	switch (kind) {
	case KIND_FD:
	case KIND_DIRFD:
		return process && place <= process->fds.count;
	case KIND_DH:
		return process && place <= process->streams.count;
	case KIND_MAP:
		return process && place <= process->maps.count;
	case KIND_PATH:
		return drawer_may_have_path(d, place);
	default:
		return true;
	}
}

bool nearby_draw(const struct universe *u, const struct state *s, struct nearby_names *names,
		 struct rng *rng, uint64_t *ret)
{
	const struct nearby_drawer drawer = { u, s, names };
	const struct universe_places places = { drawer_may_have, &drawer };

	for (unsigned i = 0; i < DRAWS; i++)
		if (universe_draw_if(u, universe_draw_op(u, rng), &places, rng, ret))
			return true;
	return false;
}

bool nearby_draw_of(const struct universe *u, size_t op, const struct state *s,
		    struct nearby_names *names, struct rng *rng, uint64_t *ret)
{
	const struct nearby_drawer drawer = { u, s, names };
	const struct universe_places places = { drawer_may_have, &drawer };

	for (unsigned i = 0; i < DRAWS; i++)
		if (universe_draw_if(u, op, &places, rng, ret))
			return true;
	return false;
}

/* ---- attributes ---- */

static bool nearby_attribute(const struct nearby *n, unsigned arg, unsigned place)
{
	const struct inode *inode = tree_inode(&n->state->tree, nearby_object(n, arg));
	struct arg *to = &n->call->arg[arg];
	const struct xattr *xattr = NULL;
	uint64_t cookie = 0;

	if (!inode)
		return false;
	do
		xattr = tree_next_xattr(inode, &cookie);
	while (xattr && place--);
	if (!xattr)
		return false;
	to->text = arena_copy(n->arena, xattr->bytes, xattr->name_len);
	to->len = xattr->name_len;
	return true;
}

/* ---- one argument ---- */

static bool op_has_attribute(const struct op_info *info)
{
	for (unsigned i = 0; i < info->args; i++)
		if (info->arg[i].kind == KIND_XATTR_NAME)
			return true;
	return info->base == OP_listxattr;
}

static bool nearby_argument(const struct nearby *n, unsigned arg)
{
	const struct op_info *info = &op_table[n->call->op];
	unsigned place = n->call->arg[arg].nearby - 1u;

	switch (info->arg[arg].kind) {
	case KIND_FD:
	case KIND_DIRFD:
		return nearby_descriptor(n, arg, place);
	case KIND_DH:
		return nearby_stream(n, arg, place);
	case KIND_MAP:
		return nearby_map(n, arg, place);
	case KIND_XATTR_NAME:
		return nearby_attribute(n, arg, place);
	case KIND_PATH:
		return nearby_path(n, arg);
	case KIND_COUNT:
		return op_has_attribute(info) ? nearby_attribute_size(n, arg)
					      : nearby_extent(n, arg);
	default:
		must(kind_table[info->arg[arg].kind]->is_extent);
		return nearby_extent(n, arg);
	}
}

bool nearby_call(const struct universe *u, uint64_t n, const struct state *s, struct arena *arena,
		 struct call *ret)
{
	struct nearby nearby = { .universe = u, .state = s, .call = ret, .arena = arena };

	if (!universe_call(u, n, ret))
		return true;
	nearby.seed = tree_hash(&s->tree).lo ^ n;
	for (unsigned i = 0; i < op_table[ret->op].args; i++) {
		if (ret->arg[i].nearby && !nearby_argument(&nearby, i))
			return false;
		ret->arg[i].nearby = 0;
	}
	universe_fit_data(ret);
	return true;
}
