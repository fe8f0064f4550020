/* runner.c -- from a script to its trace.
 *
 * First everything is executed, calls of one process that follow one another with one handover;
 * then the trace is made of the script and what was given back. */
#include "cli/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/err.h"
#include "tree/scan.h"

static int write_drop_caches(int root_fd)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return errno;
	syncfs(root_fd); /* sync(2) would wait for every disk of the machine */
	if (write(fd, "3", 1) < 0)
		error = errno;
	close(fd);
	return error;
}

/* A plain directory cannot be mounted again, and the clock is everyone's. */
static void runner_serve_environment(int root_fd, const struct call *c, struct outcome *ret)
{
	*ret = (struct outcome){ .result = op_table[c->op].result, .bytes = "" };
	ret->error = c->op == OP_drop_caches ? write_drop_caches(root_fd) : ENOSYS;
}

/* Is it a call that can share a handover with others of its process? */
static bool is_plain_call(const struct item *item)
{
	return item->type == ITEM_CALL &&
	       !(op_table[item->call.op].traits & (TRAIT_ENV | TRAIT_PROC));
}

/* Collects calls from item i on that follow one another in one process; the items between them
 * do nothing. */
static size_t gather_turn(struct runner *r, size_t i)
{
	const struct item *items = r->script.items;
	uint16_t pid = items[i].pid;
	size_t count = 0;

	for (; i < r->script.count && count < SYSCALL_BATCH_MAX; i++) {
		if (is_plain_call(&items[i]) && items[i].pid == pid) {
			r->calls[count] = items[i].call;
			r->at[count++] = i;
		} else if (items[i].type == ITEM_CALL || items[i].type == ITEM_DUMP ||
			   items[i].type == ITEM_DUMP_RESULT) {
			break;
		}
	}
	return count;
}

static int run_batch(struct runner *r, size_t *i, struct err *err)
{
	size_t count = gather_turn(r, *i), done;
	int error = crew_batch(r->crew, r->calls, count, r->outcomes, &done, err);

	for (size_t j = 0; j < done; j++)
		r->results[r->at[j]].outcome = outcome_copy(&r->outcomes[j], &r->trace.arena);
	*i = done < count ? r->at[done] : r->at[count - 1] + 1;
	return error;
}

static int run_single(struct runner *r, size_t i, struct err *err)
{
	const struct call *c = &r->script.items[i].call;
	struct outcome *outcome = &r->results[i].outcome;

	if (!(op_table[c->op].traits & TRAIT_ENV))
		return crew_call(r->crew, c, outcome, err);
	runner_serve_environment(r->root_fd, c, outcome);
	return 0;
}

/* Published traces have inode numbers in their dumps. */
static int run_dump(struct runner *r, size_t i, struct err *err)
{
	bool with_ino = r->script.dialect == DIALECT_PUBLISHED;
	struct tree tree;
	int error = tree_scan(r->scanner, r->root_fd, &tree, err);

	if (error)
		return error;
	buf_clear(&r->text);
	tree_dump(&tree, r->script.items[i].path, with_ino, &r->text);
	tree_free(&tree);
	r->results[i].dump = arena_copy(&r->trace.arena, r->text.data, r->text.len);
	return 0;
}

/* Executes item *i, or several from there on; *i becomes the first that was not. What an earlier
 * run returned is passed over. */
static int run_items(struct runner *r, size_t *i, struct err *err)
{
	const struct item *item = &r->script.items[*i];

	int error = 0;

	if (is_plain_call(item))
		return run_batch(r, i, err);
	if (item->type == ITEM_CALL)
		error = run_single(r, *i, err);
	else if (item->type == ITEM_DUMP || item->type == ITEM_DUMP_RESULT)
		error = run_dump(r, *i, err);
	if (!error)
		++*i;
	return error;
}

static void trace_return(struct runner *r, const struct item *from, const struct outcome *outcome)
{
	struct item *item;

	if (r->script.dialect == DIALECT_PUBLISHED)
		script_add(&r->trace, ITEM_TAU, from->line);
	item = script_add(&r->trace, ITEM_RETURN, from->line);
	item->pid = from->pid;
	item->ret = (struct item_return){ .outcomes = outcome, .count = 1 };
}

/* The script with results; a call that has none ends it. */
static void runner_make_trace(struct runner *r, size_t executed)
{
	for (size_t i = 0; i < r->script.count; i++) {
		const struct item *from = &r->script.items[i];

		switch (from->type) {
		case ITEM_CALL:
			*script_add(&r->trace, ITEM_CALL, from->line) = *from;
			if (i >= executed)
				return;
			trace_return(r, from, &r->results[i].outcome);
			break;
		case ITEM_DUMP:
		case ITEM_DUMP_RESULT:
			if (i >= executed)
				return;
			*script_add(&r->trace, ITEM_DUMP_RESULT, from->line) = (struct item){
				.type = ITEM_DUMP_RESULT,
				.path = from->path,
				.text = r->results[i].dump,
			};
			break;
		case ITEM_COMMENT:
		case ITEM_BLANK:
			*script_add(&r->trace, from->type, from->line) = *from;
			break;
		case ITEM_RETURN:
		case ITEM_TAU:
			break;
		}
	}
}

int runner_run(struct runner *r, struct err *err)
{
	struct err why = { 0 };
	size_t i = 0;
	int error = 0;

	script_reset(&r->trace);
	r->trace.dialect = r->script.dialect;
	r->trace.is_trace = true;
	r->results = arena_alloc(&r->trace.arena, r->script.count * sizeof(*r->results));
	while (!error && i < r->script.count)
		error = run_items(r, &i, &why);
	if (error)
		err_set(err, -error, "%s:%u: %s", r->script.name, r->script.items[i].line,
			why.text);
	runner_make_trace(r, i);
	return error;
}
