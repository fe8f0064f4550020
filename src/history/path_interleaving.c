/* path_interleaving.c -- a path walked name by name. */
#include "history/path_interleaving.h"

#include <fcntl.h>
#include <string.h>

#include "base/must.h"
#include "trace/script.h"

/* The placeholder process whose working directory is where the walk of the call has arrived. */
static unsigned placeholder_of(const struct call *c)
{
	return c->pid + SCRIPT_PID_MAX + 1;
}

/* The argument that is the call's only path, from the working directory; -1: there is none. */
static int only_path(const struct call *c)
{
	const struct op_info *op = &op_table[c->op];
	int path = -1;

	for (unsigned i = 0; i < op->args; i++) {
		if (op->arg[i].kind == KIND_DIRFD && c->arg[i].num != AT_FDCWD)
			return -1;
		if (op->arg[i].kind != KIND_PATH)
			continue;
		if (path >= 0 || !c->arg[i].text)
			return -1;
		path = (int)i;
	}
	return c->op == OP_chdir ? -1 : path;
}

/* Bytes of the next name with the slashes behind it; 0 if it is the last. */
static size_t next_name_bytes(const char *path)
{
	size_t len = strspn(path, "/");

	len += strcspn(path + len, "/");
	len += strspn(path + len, "/");
	return path[len] ? len : 0;
}

static void placeholder_create(struct state *s, const struct call *c)
{
	const struct process *own = state_process(s, c->pid);
	uint64_t cwd = own->cwd;

	state_create_process(s, placeholder_of(c), own->uid, own->gid);
	state_set_cwd(s, placeholder_of(c), cwd);
}

static bool placeholder_open(const struct model *m, struct state *s, const struct call *c,
			     struct arg path, int flags)
{
	struct call open = { .op = OP_open, .pid = (uint16_t)placeholder_of(c) };
	struct envelope env;

	open.open.path = path;
	open.open.flags.num = O_PATH | flags;
	model_move(m, s, &open, &env);
	return env.success && !env.undefined;
}

/* The placeholder opens the file that link will give another name. */
static bool placeholder_open_file(const struct model *m, struct state *s, const struct call *c)
{
	placeholder_create(s, c);
	return placeholder_open(m, s, c, c->link.from, O_NOFOLLOW);
}

/* Where the last name of a path begins. */
static size_t last_name(const char *path)
{
	size_t at = 0, len;

	while ((len = next_name_bytes(path + at)))
		at += len;
	return at + strspn(path + at, "/");
}

static bool placeholder_open_parent(const struct model *m, struct state *s, const struct call *c,
				    const struct arg *path)
{
	size_t len = last_name(path->text);
	char text[UINT8_MAX + 1] = ".";

	if (len >= sizeof(text))
		return false;
	if (len)
		memcpy(text, path->text, len);
	text[len ? len : 1] = '\0';
	return placeholder_open(m, s, c, (struct arg){ .text = text, .len = strlen(text) },
				O_DIRECTORY);
}

/* Both names of a rename from the working directory; false: it is none. */
static bool renamed_paths(const struct call *c, const struct arg **ret_from,
			  const struct arg **ret_to)
{
	if (c->op == OP_rename) {
		*ret_from = &c->rename.from;
		*ret_to = &c->rename.to;
	} else if (c->op == OP_renameat2 && c->renameat2.fromfd.num == AT_FDCWD &&
		   c->renameat2.tofd.num == AT_FDCWD) {
		*ret_from = &c->renameat2.from;
		*ret_to = &c->renameat2.to;
	} else {
		return false;
	}
	return (*ret_from)->text && (*ret_to)->text;
}

/* The placeholder opens the directories of both names. */
static bool placeholder_open_parents(const struct model *m, struct state *s, const struct call *c)
{
	const struct arg *from, *to;

	if (!renamed_paths(c, &from, &to))
		return false;
	placeholder_create(s, c);
	return placeholder_open_parent(m, s, c, from) && placeholder_open_parent(m, s, c, to);
}

static bool placeholder_walk(const struct model *m, struct state *s, unsigned placeholder,
			     const char *name, size_t len)
{
	char text[UINT8_MAX + 1];
	struct call chdir = { .op = OP_chdir, .pid = (uint16_t)placeholder };
	struct envelope env;

	memcpy(text, name, len);
	text[len] = '\0';
	chdir.chdir.path = (struct arg){ .text = text, .len = len };
	model_move(m, s, &chdir, &env);
	return env.success && !env.undefined;
}

bool interleaving_step(const struct model *m, struct state *s, const struct call *c,
		       uint8_t *walked)
{
	const struct process *own = state_process(s, c->pid);
	int path = only_path(c);
	size_t len = path < 0 || !own ? 0 : next_name_bytes(c->arg[path].text + *walked);

	if (c->op == OP_link && !*walked && own && c->link.from.text) {
		*walked = INTERLEAVING_OPENED;
		return placeholder_open_file(m, s, c);
	}
	if (op_table[c->op].base == OP_rename && !*walked && own) {
		*walked = INTERLEAVING_OPENED;
		return placeholder_open_parents(m, s, c);
	}
	if (!len || *walked + len >= INTERLEAVING_OPENED)
		return false;
	if (!*walked)
		placeholder_create(s, c);
	if (!placeholder_walk(m, s, placeholder_of(c), c->arg[path].text + *walked, len))
		return false;
	*walked += (uint8_t)len;
	return true;
}

/* Swaps the two working directories: the placeholder now holds the process's own. */
static void swap_directories(struct state *s, const struct call *c)
{
	uint64_t own = state_process(s, c->pid)->cwd;
	uint64_t there = state_process(s, placeholder_of(c))->cwd;

	tree_hold(&s->tree, own);
	state_set_cwd(s, c->pid, there);
	state_set_cwd(s, placeholder_of(c), own);
	tree_unhold(&s->tree, own);
}

static struct call link_opened(const struct call *c)
{
	struct call rest = { .op = OP_linkat, .pid = (uint16_t)placeholder_of(c) };

	rest.linkat.fromfd.num = STATE_FD_FIRST;
	rest.linkat.from = (struct arg){ .text = "" };
	rest.linkat.tofd.num = AT_FDCWD;
	rest.linkat.to = c->link.to;
	rest.linkat.flags.num = AT_EMPTY_PATH;
	return rest;
}

static struct call rename_opened(const struct call *c)
{
	struct call rest = { .op = OP_renameat2, .pid = (uint16_t)placeholder_of(c) };
	const struct arg *from, *to;

	must(renamed_paths(c, &from, &to));
	rest.renameat2.fromfd.num = STATE_FD_FIRST;
	rest.renameat2.from = *from;
	rest.renameat2.from.text += last_name(from->text);
	rest.renameat2.from.len -= last_name(from->text);
	rest.renameat2.tofd.num = STATE_FD_FIRST + 1;
	rest.renameat2.to = *to;
	rest.renameat2.to.text += last_name(to->text);
	rest.renameat2.to.len -= last_name(to->text);
	if (c->op == OP_renameat2)
		rest.renameat2.flags = c->renameat2.flags;
	return rest;
}

struct call interleaving_rest(struct state *s, const struct call *c, uint8_t walked)
{
	struct call rest = *c;
	int path = only_path(c);

	if (walked == INTERLEAVING_OPENED)
		return c->op == OP_link ? link_opened(c) : rename_opened(c);
	if (!walked)
		return rest;
	rest.arg[path].text += walked;
	rest.arg[path].len -= walked;
	swap_directories(s, c);
	return rest;
}

void interleaving_forget(struct state *s, const struct call *c, uint8_t walked)
{
	if (!walked)
		return;
	state_destroy_process(s, placeholder_of(c));
	tree_settle(&s->tree);
}

void interleaving_return(struct state *s, const struct call *c, uint8_t walked)
{
	if (walked && walked != INTERLEAVING_OPENED)
		swap_directories(s, c);
	interleaving_forget(s, c, walked);
}

/* The directory that rmdir names, where its own walk has not begun; 0: there is none. */
static uint64_t find_victim(const struct model *m, struct state *s, const struct call *rmdir)
{
	const char *path = rmdir->rmdir.path.text;

	if (!path || strlen(path) >= INTERLEAVING_OPENED || !state_process(s, rmdir->pid) ||
	    state_process(s, placeholder_of(rmdir)))
		return 0;
	placeholder_create(s, rmdir);
	if (!placeholder_walk(m, s, placeholder_of(rmdir), path, strlen(path)))
		return 0;
	return state_process(s, placeholder_of(rmdir))->cwd;
}

bool interleaving_is_inside(const struct model *m, const struct state *s, const struct call *c,
			    uint8_t walked, const struct call *rmdir)
{
	struct state copy = state_copy(s);
	int path = only_path(c);
	bool inside = false;

	while (walked != INTERLEAVING_OPENED && interleaving_step(m, &copy, c, &walked))
		;
	if (path >= 0 && walked && walked != INTERLEAVING_OPENED &&
	    !next_name_bytes(c->arg[path].text + walked))
		inside = find_victim(m, &copy, rmdir) ==
			 state_process(&copy, placeholder_of(c))->cwd;
	state_free(&copy);
	return inside;
}
