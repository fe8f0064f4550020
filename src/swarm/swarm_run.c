/* swarm_run.c -- a run on the server: its description, who works on it, its end. */
#include "swarm/swarm_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

#define RUNS_KEY "assay:runs"

static struct redis_link *run_link(const struct swarm_run *r, const char *what,
				   char key[SWARM_KEY_MAX])
{
	return redis_net_link(&r->net, swarm_key(&r->names, what, key));
}

/* Evicted states would be lost in silence. */
static int run_check_server(struct swarm_run *r, const char **ret_warning, struct err *err)
{
	char policy[64] = "noeviction", most[32] = "0", append[8] = "1";
	redisReply *info;
	int status = redis_link_ask(r->net.links[0], &info, err, "INFO");

	if (status)
		return status;
	redis_info(info, "maxmemory_policy", policy, sizeof(policy));
	redis_info(info, "maxmemory", most, sizeof(most));
	redis_info(info, "aof_enabled", append, sizeof(append));
	freeReplyObject(info);
	if (strcmp(most, "0") != 0 && strcmp(policy, "noeviction") != 0)
		return err_set(err, EINVAL,
			       "the Redis server forgets keys when its memory is full "
			       "(maxmemory-policy %s); it has to be noeviction",
			       policy);
	*ret_warning = append[0] == '0' ? "the Redis server has no append-only file (appendonly "
					  "no): the run is lost if it restarts"
					: NULL;
	return 0;
}

int swarm_run_reopen(struct swarm_run *r, const struct redis_url *u, struct err *err)
{
	redis_net_close(&r->net);
	return redis_net_open(&r->net, u, swarm_scripts, err);
}

bool swarm_run_is_open(const struct swarm_run *r)
{
	return redis_net_is_open(&r->net);
}

int swarm_run_open(struct swarm_run *r, const struct redis_url *u, const char *name,
		   const char **ret_warning, struct err *err)
{
	int status;

	must(swarm_name_is_valid(name));
	*r = (struct swarm_run){ .names.shards = 1 };
	strcpy(r->names.run, name);
	status = swarm_run_reopen(r, u, err);
	if (!status)
		status = run_check_server(r, ret_warning, err);
	if (status)
		swarm_run_close(r);
	return status;
}

void swarm_run_close(struct swarm_run *r)
{
	redis_net_close(&r->net);
	json_decref(r->about);
	r->about = NULL;
}

int swarm_run_read(struct swarm_run *r, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = run_link(r, "about", key);
	redisReply *text;
	json_int_t shards;
	int status = redis_link_ask(l, &text, err, "HGET %s description", key);

	if (status)
		return status;
	if (text->type == REDIS_REPLY_NIL) {
		freeReplyObject(text);
		return err_set(err, ENOENT, "the Redis server has no run %s", r->names.run);
	}
	json_decref(r->about);
	r->about = text->type == REDIS_REPLY_STRING
			 ? json_loadb(text->str, (size_t)text->len, 0, NULL)
			 : NULL;
	freeReplyObject(text);
	shards = json_integer_value(json_object_get(r->about, "shards"));
	if (shards < 1 || shards > SHARDS_MAX ||
	    !json_array_size(json_object_get(r->about, "args")))
		return err_set(err, EPROTO, "the description of run %s cannot be read",
			       r->names.run);
	r->names.shards = (unsigned)shards;
	return 0;
}

int swarm_run_make(struct swarm_run *r, json_t *about, bool *ret_made, struct err *err)
{
	char key[SWARM_KEY_MAX], *text = json_dumps(about, JSON_COMPACT | JSON_SORT_KEYS);
	json_int_t shards = json_integer_value(json_object_get(about, "shards"));
	struct redis_link *l = run_link(r, "about", key);
	redisReply *made = NULL;
	int status = redis_link_do(l, err, "MULTI");

	json_decref(about);
	if (!status)
		status = redis_link_do(l, err, "HSETNX %s description %s", key, text);
	if (!status)
		status = redis_link_do(l, err, "HSETNX %s shards %lld", key, (long long)shards);
	if (!status)
		status = redis_link_ask(l, &made, err, "EXEC");
	free(text);
	if (status)
		return status;
	*ret_made = redis_reply_number(redis_reply_at(made, 0));
	freeReplyObject(made);
	status = redis_link_do(redis_net_link(&r->net, RUNS_KEY), err, "SADD " RUNS_KEY " %s",
			       r->names.run);
	return status ? status : swarm_run_read(r, err);
}

int swarm_run_list(const struct redis_url *u, json_t **ret, struct err *err)
{
	struct redis_net net;
	redisReply *names;
	int status = redis_net_open(&net, u, swarm_scripts, err);

	if (status)
		return status;
	status = redis_link_ask(redis_net_link(&net, RUNS_KEY), &names, err, "SMEMBERS " RUNS_KEY);
	redis_net_close(&net);
	if (status)
		return status;
	*ret = json_array();
	for (size_t i = 0; i < names->elements; i++)
		if (names->element[i]->str && swarm_name_is_valid(names->element[i]->str))
			json_array_append_new(*ret, json_string(names->element[i]->str));
	freeReplyObject(names);
	return 0;
}

int swarm_run_find(const struct redis_url *u, char ret[RUN_NAME_MAX + 1], struct err *err)
{
	json_t *names;
	int status = swarm_run_list(u, &names, err);
	size_t count;

	if (status)
		return status;
	count = json_array_size(names);
	if (count != 1)
		status = err_set(err, count ? EEXIST : ENOENT,
				 count ? "the Redis server has %zu runs: name one by --run"
				       : "the Redis server has no run (%zu)",
				 count);
	else
		strcpy(ret, json_string_value(json_array_get(names, 0)));
	json_decref(names);
	return status;
}

/* ---- workers ---- */

/* A script on the keys of the run; *ret: its reply, which is to be freed. */
static int swarm_run_script(struct swarm_run *r, enum swarm_script script, const char *const *args,
			    size_t count, redisReply **ret, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = run_link(r, "beats", key);
	int status;

	swarm_begin_script(&r->net, l, script, key, count);
	for (size_t i = 0; i < count; i++)
		redis_link_args(l, args[i]);
	status = redis_link_send(l, err);
	return status ? status : redis_link_read(l, ret, err);
}

static void run_print_number(char text[32], uint64_t number)
{
	snprintf(text, 32, "%llu", (unsigned long long)number);
}

int swarm_run_beat(struct swarm_run *r, uint64_t number, double dead_seconds, bool *ret_stopped,
		   struct err *err)
{
	char me[32], dead_ms[32];
	redisReply *reply;
	int status;

	run_print_number(me, number);
	run_print_number(dead_ms, (uint64_t)(dead_seconds * 1000));
	status = swarm_run_script(r, SCRIPT_LOOK, (const char *[]){ me, "", dead_ms }, 3, &reply,
				  err);
	if (status)
		return status;
	*ret_stopped = redis_reply_number(redis_reply_at(reply, 5)) ||
		       !redis_reply_number(redis_reply_at(reply, 6));
	freeReplyObject(reply);
	return 0;
}

int swarm_run_bury(struct swarm_run *r, uint64_t number, struct err *err)
{
	redisReply *reply;
	char me[32];
	int status;

	run_print_number(me, number);
	status = swarm_run_script(r, SCRIPT_LEAVE, (const char *[]){ me, "left" }, 2, &reply, err);
	if (!status)
		freeReplyObject(reply);
	return status;
}

int swarm_run_stop(struct swarm_run *r, struct err *err)
{
	char key[SWARM_KEY_MAX];

	return redis_link_do(run_link(r, "stopped", key), err, "SET %s 1", key);
}

int swarm_run_is_stopped(struct swarm_run *r, bool *ret, struct err *err)
{
	char key[SWARM_KEY_MAX];
	redisReply *reply;
	int status = redis_link_ask(run_link(r, "stopped", key), &reply, err, "EXISTS %s", key);

	if (status)
		return status;
	*ret = redis_reply_number(reply);
	freeReplyObject(reply);
	return 0;
}

int swarm_run_living(struct swarm_run *r, uint64_t *ret, struct err *err)
{
	char key[SWARM_KEY_MAX];
	redisReply *reply;
	int status = redis_link_ask(run_link(r, "beats", key), &reply, err, "ZCARD %s", key);

	if (status)
		return status;
	*ret = redis_reply_number(reply);
	freeReplyObject(reply);
	return 0;
}

/* ---- the end ---- */

/* Keys whose names are members of a set or fields of a hash. */
static int run_remove_listed(struct swarm_run *r, const char *list, const char *command,
			     const char *const *kinds, struct err *err)
{
	char key[SWARM_KEY_MAX];
	struct redis_link *l = run_link(r, list, key);
	redisReply *names;
	int status = redis_link_ask(l, &names, err, command, key);

	if (status)
		return status;
	for (size_t i = 0; i < names->elements && !status; i++)
		for (size_t k = 0; kinds[k] && !status; k++)
			status = redis_link_do(l, err, "UNLINK %s",
					       swarm_channel_key(&r->names, kinds[k],
								 names->element[i]->str, key));
	freeReplyObject(names);
	return status;
}

int swarm_run_remove(struct swarm_run *r, struct err *err)
{
	static const char *const keys[] = { "about",       "number",        "began",    "epoch",
					    "workers",     "beats",         "dead",     "left",
					    "freed",       "bad",           "banned",   "stopped",
					    "findings",    "figures",       "coverage", "channels",
					    "unconfirmed", "finding_names", "parts",    "results",
					    "given_up" };
	static const char *const of_channel[] = { "waiting", "items", "done", NULL };
	static const char *const of_finding[] = { "finding", NULL };
	static const char *const of_shard[] = { "taken", "states" };
	char key[SWARM_KEY_MAX];
	int status = run_remove_listed(r, "channels", "SMEMBERS %s", of_channel, err);

	if (!status)
		status = run_remove_listed(r, "finding_names", "SMEMBERS %s", of_finding, err);
	for (unsigned i = 0; i < r->names.shards && !status; i++)
		for (size_t k = 0; k < ARRAY_LEN(of_shard) && !status; k++) {
			struct redis_link *l = redis_net_link(
				&r->net, swarm_shard_key(&r->names, of_shard[k], i, key));

			status = redis_link_do(l, err, "UNLINK %s", key);
		}
	for (size_t i = 0; i < ARRAY_LEN(keys) && !status; i++)
		status = redis_link_do(run_link(r, keys[i], key), err, "UNLINK %s", key);
	if (status)
		return status;
	return redis_link_do(redis_net_link(&r->net, RUNS_KEY), err, "SREM " RUNS_KEY " %s",
			     r->names.run);
}
