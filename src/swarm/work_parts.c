/* work_parts.c -- work that is divided in numbered parts: who does which, and what came of it. */
#include "swarm/work_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

/* Of a result, as JSON. */
enum { RESULT_MAX = 16 << 20, ENTRY_LEN = 32 };

/* Entries have names of our choice, so that a part cannot be there twice. */
static void part_entry(char ret[ENTRY_LEN], unsigned number)
{
	snprintf(ret, ENTRY_LEN, "%u-0", number + 1);
}

static int part_of_entry(const redisReply *entry, unsigned *ret, struct err *err)
{
	unsigned long number = entry && entry->str ? strtoul(entry->str, NULL, 10) : 0;

	if (!number || number > UINT32_MAX)
		return err_set(err, EPROTO, "a part of the work has no valid name");
	*ret = (unsigned)number - 1;
	return 0;
}

/* A command that has no effect the second time, which the server says by this word. */
static int do_once(struct redis_link *l, const char *command, const char *key, const char *entry,
		   const char *again, struct err *err)
{
	struct err own = { 0 };
	int status = redis_link_do(l, &own, command, key, entry);

	if (status == -EPROTO && strstr(own.text, again))
		return 0;
	return status ? err_set(err, -status, "%s", own.text) : 0;
}

int work_parts_put(struct swarm_run *r, unsigned count, struct err *err)
{
	char key[SWARM_KEY_MAX], entry[ENTRY_LEN];
	struct redis_link *l = redis_net_link(&r->net, swarm_key(&r->names, "parts", key));
	int status = do_once(l, "XGROUP CREATE %s workers %s MKSTREAM", key, "0", "BUSYGROUP", err);

	for (unsigned i = 0; i < count && !status; i++) {
		part_entry(entry, i);
		status = do_once(l, "XADD %s %s part 1", key, entry, "equal or smaller", err);
	}
	return status;
}

/* ---- taking ---- */

static int part_ask(struct swarm_worker *w, redisReply **ret, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = redis_net_link(&w->net, swarm_key(&w->names, "beats", key));
	int status;

	swarm_begin_script(&w->net, l, SCRIPT_PART_TAKE, key, 2);
	redis_link_argu(l, w->page->number);
	redis_link_argu(l, PART_TRIES);
	status = redis_link_send(l, err);
	return status ? status : redis_link_read(l, ret, err);
}

/* Where others took this worker for dead, it looks, and so joins again. */
static int part_try(struct swarm_worker *w, enum part_offer *ret, unsigned *ret_number,
		    struct err *err)
{
	redisReply *reply;
	int status = part_ask(w, &reply, err);

	if (status)
		return status;
	switch (redis_reply_number(redis_reply_at(reply, 0))) {
	case 0:
		*ret = PART_NONE_LEFT;
		break;
	case 2:
		*ret = PART_MINE;
		status = part_of_entry(redis_reply_at(reply, 1), ret_number, err);
		break;
	case 4:
		status = err_set(err, ENOENT, "the Redis server does not know the run %s any more",
				 w->names.run);
		break;
	default:
		*ret = PART_WAIT;
		status = worker_look(w, "", true, err);
	}
	freeReplyObject(reply);
	return status;
}

int work_parts_take(struct swarm_worker *w, enum part_offer *ret, unsigned *ret_number,
		    struct err *err)
{
	int status;

	for (;;) {
		status = worker_await(w, err);
		if (!status)
			status = part_try(w, ret, ret_number, err);
		if (!status || (status = worker_lost(w, status, err)))
			return status;
	}
}

/* ---- results ---- */

static int part_send(struct swarm_worker *w, unsigned number, const char *result, bool is_done,
		     struct err *err)
{
	char key[SWARM_KEY_MAX], entry[ENTRY_LEN];
	struct redis_link *l = redis_net_link(&w->net, swarm_key(&w->names, "beats", key));

	part_entry(entry, number);
	swarm_begin_script(&w->net, l, SCRIPT_PART_END, key, 4);
	redis_link_args(l, entry);
	redis_link_argu(l, number);
	redis_link_args(l, result);
	redis_link_argu(l, is_done);
	return redis_link_finish(l, err);
}

int work_parts_end(struct swarm_worker *w, struct results_sender *s, unsigned number,
		   const char *dir, const json_t *printed, bool is_done, struct err *err)
{
	char *result = json_dumps(printed, JSON_COMPACT);
	int status = 0;

	if (!result || strlen(result) > RESULT_MAX)
		status = err_set(err, E2BIG, "the result of part %u is too large", number + 1);
	while (!status) {
		status = worker_await(w, err);
		if (!status) {
			struct swarm_run run = { .net = w->net, .names = w->names };

			s->worker = w->page->number;
			status = results_send_findings(&run, s, dir, err);
		}
		if (!status)
			status = part_send(w, number, result, is_done, err);
		if (!status)
			break;
		status = worker_lost(w, status, err);
	}
	free(result);
	return status;
}

/* The summary of XPENDING begins with their number. */
static int count_begun(struct swarm_run *r, uint64_t *ret, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = redis_net_link(&r->net, swarm_key(&r->names, "parts", key));
	redisReply *reply;
	int status = redis_link_ask(l, &reply, err, "XPENDING %s workers", key);

	if (status)
		return status;
	*ret = redis_reply_number(redis_reply_at(reply, 0));
	freeReplyObject(reply);
	return 0;
}

int work_parts_count(struct swarm_run *r, struct work_parts_counts *ret, struct err *err)
{
	int status = results_ask_number(r, "XLEN", "parts", &ret->open, err);

	if (!status)
		status = results_ask_number(r, "SCARD", "given_up", &ret->given_up, err);
	return status ? status : count_begun(r, &ret->begun, err);
}

int work_parts_fetch(struct swarm_run *r, json_t **ret, struct err *err)
{
	return results_fetch(r, "results", ret, err);
}
