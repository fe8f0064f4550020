/* results.c -- what workers have found, on the server. */
#include "swarm/results.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dirs.h"
#include "base/json.h"
#include "base/must.h"

/* Of a file, of a finding, and of a JSON text that is sent or read. */
enum { FILE_MAX = 512 << 10, FINDING_MAX = 2 << 20, JSON_MAX = 16 << 20, NAME_LEN_MAX = 100 };

static const char *const result_lists[] = { "findings", "unconfirmed" };

static struct redis_link *results_link(const struct swarm_run *r, const char *what,
				       char key[SWARM_KEY_MAX])
{
	return redis_net_link(&r->net, swarm_key(&r->names, what, key));
}

void results_sender_free(struct results_sender *s)
{
	str_map_free(&s->sent);
}

static json_t *load_json(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/%s", dir, name);
	return json_load_file(path, 0, NULL);
}

/* ---- sending ---- */

/* Names of files come from a server: nothing that leads elsewhere. */
static bool is_file_name(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return len && len <= NAME_LEN_MAX && name[0] != '.';
}

/* Files of a folder, as commands on the key. What is too large is listed. */
static int finding_send_files(struct redis_link *l, const char *key, const char *folder,
			      json_t *left_out, struct err *err)
{
	struct buf content = BUF_INIT;
	char path[PATH_MAX];
	size_t sum = 0;
	struct dirent *e;
	DIR *d = opendir(folder);
	int status = 0;

	while (d && !status && (e = readdir(d))) {
		struct err own = { 0 };

		if (!is_file_name(e->d_name) || e->d_type == DT_DIR)
			continue;
		snprintf(path, sizeof(path), "%.3900s/%.100s", folder, e->d_name);
		buf_clear(&content);
		if (buf_read_file(&content, path, FILE_MAX, &own) ||
		    (sum += content.len) > FINDING_MAX)
			json_array_append_new(left_out, json_string(e->d_name));
		else
			status = redis_link_do(l, err, "HSET %s %s %b", key, e->d_name,
					       buf_str(&content), content.len);
	}
	if (d)
		closedir(d);
	buf_free(&content);
	return status;
}

/* Is what is there already better: shorter, or as short and another's? */
static int is_known_better(struct swarm_run *r, const char *list, const json_t *row,
			   uint64_t worker, bool *ret, struct err *err)
{
	char key[SWARM_KEY_MAX];
	json_int_t calls, theirs;
	redisReply *reply;
	json_t *there, *old;
	int status = redis_link_ask(results_link(r, list, key), &reply, err, "HGET %s %s", key,
				    json_text(row, "signature"));

	if (status)
		return status;
	there = reply->type == REDIS_REPLY_STRING && reply->len < JSON_MAX
		      ? json_loadb(reply->str, (size_t)reply->len, 0, NULL)
		      : NULL;
	freeReplyObject(reply);
	old = json_object_get(there, "row");
	calls = json_integer_value(json_object_get(row, "calls"));
	theirs = json_integer_value(json_object_get(old, "calls"));
	*ret = old && (theirs < calls ||
		       (theirs == calls && json_integer_value(json_object_get(there, "worker")) !=
						   (json_int_t)worker));
	json_decref(there);
	return 0;
}

/* Of a worker, what another has published of the same signature does not take the place. */
static void finding_name(const json_t *row, uint64_t worker, char ret[64])
{
	const char *signature = json_text(row, "signature");
	char hash[33];

	hash_print(hash128(signature, strlen(signature), 0), hash);
	snprintf(ret, 64, "%s-%llu", hash, (unsigned long long)worker);
}

static int send_finding(struct swarm_run *r, uint64_t worker, const char *list, const json_t *row,
			const char *dir, struct err *err)
{
	char key[SWARM_KEY_MAX], names[SWARM_KEY_MAX], folder[PATH_MAX], name[64], *text;
	json_t *entry = json_object(), *left_out = json_array();
	struct redis_link *l;
	int status;

	finding_name(row, worker, name);
	snprintf(folder, sizeof(folder), "%.3900s/%.190s", dir, json_text(row, "folder"));
	l = redis_net_link(&r->net, swarm_channel_key(&r->names, "finding", name, key));
	status = redis_link_do(l, err, "SADD %s %s", swarm_key(&r->names, "finding_names", names),
			       name);
	if (!status && *json_text(row, "folder"))
		status = finding_send_files(l, key, folder, left_out, err);
	json_object_set_new(entry, "row", json_deep_copy(row));
	json_object_set_new(entry, "worker", json_integer((json_int_t)worker));
	json_object_set_new(entry, "name", json_string(name));
	json_object_set_new(entry, "left_out", left_out);
	text = json_dumps(entry, JSON_COMPACT);
	json_decref(entry);
	if (!status)
		status = redis_link_do(l, err, "HSET %s %s %s", swarm_key(&r->names, list, key),
				       json_text(row, "signature"), text ? text : "{}");
	free(text);
	return status;
}

/* A row that this worker has not sent as it is now. */
static bool is_row_new(struct results_sender *s, const char *list, const json_t *row)
{
	char *text = json_dumps(row, JSON_COMPACT | JSON_SORT_KEYS), key[300];
	uint64_t hash = text ? hash64(text, strlen(text), 1) : 0, *sent;
	bool is_new;

	free(text);
	snprintf(key, sizeof(key), "%s %.250s", list, json_text(row, "signature"));
	sent = str_map_put(&s->sent, key, NULL);
	is_new = *sent != hash;
	*sent = hash;
	return is_new;
}

int results_send_findings(struct swarm_run *r, struct results_sender *s, const char *dir,
			  struct err *err)
{
	json_t *summary = load_json(dir, "run.json"), *row;
	int status = 0;
	size_t i;

	for (size_t k = 0; k < ARRAY_LEN(result_lists) && !status; k++) {
		json_array_foreach(json_object_get(summary, result_lists[k]), i, row)
		{
			bool known = false;

			if (status || !*json_text(row, "signature") ||
			    !is_row_new(s, result_lists[k], row))
				continue;
			status = is_known_better(r, result_lists[k], row, s->worker, &known, err);
			if (!status && !known)
				status = send_finding(r, s->worker, result_lists[k], row, dir, err);
		}
	}
	/* What was not sent is sent when the server is back. */
	if (status)
		results_sender_free(s);
	json_decref(summary);
	return status;
}

static int send_json(struct swarm_run *r, const char *what, uint64_t worker, const json_t *value,
		     struct err *err)
{
	char key[SWARM_KEY_MAX], *text = json_dumps(value, JSON_COMPACT);
	int status = 0;

	if (text && strlen(text) < JSON_MAX)
		status = redis_link_do(results_link(r, what, key), err, "HSET %s %llu %s", key,
				       (unsigned long long)worker, text);
	free(text);
	return status;
}

int results_send_figures(struct swarm_run *r, uint64_t worker, const json_t *figures,
			 struct err *err)
{
	return send_json(r, "figures", worker, figures, err);
}

int results_send_end(struct swarm_run *r, uint64_t worker, const char *dir, struct err *err)
{
	json_t *coverage = load_json(dir, "coverage.json");
	int status = 0;

	if (coverage)
		status = send_json(r, "coverage", worker, coverage, err);
	json_decref(coverage);
	return status;
}

/* ---- fetching ---- */

int results_fetch(struct swarm_run *r, const char *what, json_t **ret, struct err *err)
{
	char key[SWARM_KEY_MAX];
	redisReply *all;
	int status = redis_link_ask(results_link(r, what, key), &all, err, "HGETALL %s", key);

	if (status)
		return status;
	*ret = json_object();
	for (size_t i = 0; i + 1 < all->elements; i += 2) {
		const redisReply *value = all->element[i + 1];
		json_t *o =
			value->type == REDIS_REPLY_STRING && value->len < JSON_MAX
				? json_loadb(value->str, (size_t)value->len, JSON_DECODE_ANY, NULL)
				: NULL;

		/* What cannot be read was written by no worker of ours. */
		if (json_is_object(o))
			json_object_set(*ret, all->element[i]->str, o);
		json_decref(o);
	}
	freeReplyObject(all);
	return 0;
}

static int finding_write_files(struct redis_link *l, const char *key, const char *folder,
			       struct err *err)
{
	char path[PATH_MAX];
	redisReply *files;
	int status = redis_link_ask(l, &files, err, "HGETALL %s", key);

	if (status)
		return status;
	status = dirs_make_all(folder, err);
	for (size_t i = 0; i + 1 < files->elements && !status; i += 2) {
		struct buf content = BUF_INIT;

		if (!is_file_name(files->element[i]->str))
			continue;
		snprintf(path, sizeof(path), "%.3900s/%.100s", folder, files->element[i]->str);
		buf_add(&content, files->element[i + 1]->str, (size_t)files->element[i + 1]->len);
		status = buf_write_file(&content, path, err);
		buf_free(&content);
	}
	freeReplyObject(files);
	return status;
}

/* Letters and digits of a code, for the name of a folder. */
static void folder_name(char ret[64], const char *list, size_t number, const char *code)
{
	char plain[24] = "";
	size_t len = 0;

	for (; *code && len < sizeof(plain) - 1; code++)
		if (isalnum((unsigned char)*code))
			plain[len++] = *code;
	plain[len] = 0;
	snprintf(ret, 64, "%s/%03zu-%s", list, number, plain);
}

/* The other discrepancies of its group have no folder here. */
static void row_drop_others_folders(json_t *row)
{
	json_t *other;
	size_t i;

	json_array_foreach(json_object_get(row, "others"), i, other)
		json_object_del(other, "folder");
}

static int fetch_list(struct swarm_run *r, const char *list, const char *dir, json_t *rows,
		      struct err *err)
{
	char key[SWARM_KEY_MAX], folder[64], path[PATH_MAX];
	json_t *all = NULL, *entry;
	const char *signature;
	size_t number = 0;
	int status = results_fetch(r, list, &all, err);

	json_object_foreach(all, signature, entry)
	{
		json_t *row = json_object_get(entry, "row");
		const char *name = json_text(entry, "name");

		if (status || !json_is_object(row) || !swarm_name_is_valid(name) ||
		    !*json_text(row, "signature"))
			continue;
		folder_name(folder, list, ++number, json_text(row, "code"));
		snprintf(path, sizeof(path), "%.3900s/%s", dir, folder);
		status = finding_write_files(
			redis_net_link(&r->net, swarm_channel_key(&r->names, "finding", name, key)),
			key, path, err);
		json_object_set_new(row, "folder", json_string(folder));
		row_drop_others_folders(row);
		json_array_append(rows, row);
	}
	json_decref(all);
	return status;
}

int results_fetch_findings(struct swarm_run *r, const char *dir, json_t **ret, struct err *err)
{
	json_t *summary = json_object();
	int status = 0;

	for (size_t i = 0; i < ARRAY_LEN(result_lists) && !status; i++) {
		json_t *rows = json_array();

		status = fetch_list(r, result_lists[i], dir, rows, err);
		json_object_set_new(summary, result_lists[i], rows);
	}
	if (status)
		json_decref(summary);
	else
		*ret = summary;
	return status;
}

/* ---- counts ---- */

int results_ask_number(struct swarm_run *r, const char *command, const char *what, uint64_t *ret,
		       struct err *err)
{
	char key[SWARM_KEY_MAX];
	redisReply *reply;
	int status = redis_link_ask(results_link(r, what, key), &reply, err, "%s %s", command, key);

	if (status)
		return status;
	*ret = redis_reply_number(reply);
	freeReplyObject(reply);
	return 0;
}

int results_counts(struct swarm_run *r, struct swarm_counts *ret, struct err *err)
{
	const struct {
		const char *command, *what;
		uint64_t *to;
	} rows[] = {
		{ "ZCARD", "beats", &ret->living },
		{ "SCARD", "dead", &ret->dead },
		{ "SCARD", "left", &ret->left },
		{ "HLEN", "workers", &ret->workers },
		{ "HLEN", "findings", &ret->findings },
		{ "HLEN", "unconfirmed", &ret->unconfirmed },
		{ "HLEN", "waiting:0", &ret->waiting },
	};
	int status = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows) && !status; i++)
		status = results_ask_number(r, rows[i].command, rows[i].what, rows[i].to, err);
	return status;
}

static int ask_members(struct swarm_run *r, const char *what, json_t **ret, struct err *err)
{
	char key[SWARM_KEY_MAX];
	redisReply *members;
	int status = redis_link_ask(results_link(r, what, key), &members, err, "SMEMBERS %s", key);

	if (status)
		return status;
	*ret = json_object();
	for (size_t i = 0; i < members->elements; i++)
		json_object_set_new(*ret, members->element[i]->str, json_true());
	freeReplyObject(members);
	return 0;
}

int results_dead(struct swarm_run *r, json_t **ret, struct err *err)
{
	return ask_members(r, "dead", ret, err);
}

int results_is_done(struct swarm_run *r, bool *ret, struct err *err)
{
	json_t *channels = NULL, *one;
	const char *name;
	int status = ask_members(r, "channels", &channels, err);

	*ret = !status && json_object_size(channels);
	json_object_foreach(channels, name, one)
	{
		char what[RUN_NAME_MAX + 8];
		uint64_t there = 0;

		snprintf(what, sizeof(what), "done:%s", name);
		if (!status)
			status = results_ask_number(r, "EXISTS", what, &there, err);
		*ret &= there == 1;
	}
	json_decref(channels);
	return status;
}

/* Members may come twice, as SSCAN may give them so. */
static int sum_shard(struct swarm_run *r, unsigned shard, struct hash_map *seen,
		     struct hash *ret_sum, struct err *err)
{
	char key[SWARM_KEY_MAX], cursor[32] = "0";
	struct redis_link *l =
		redis_net_link(&r->net, swarm_shard_key(&r->names, "states", shard, key));
	int status;

	do {
		const redisReply *next, *members;
		redisReply *reply;

		status = redis_link_ask(l, &reply, err, "SSCAN %s %s COUNT 4000", key, cursor);
		if (status)
			break;
		next = redis_reply_at(reply, 0);
		members = redis_reply_at(reply, 1);
		snprintf(cursor, sizeof(cursor), "%s", next && next->str ? next->str : "0");
		for (size_t i = 0; members && i < members->elements; i++) {
			struct hash h;
			bool is_new;

			if (members->element[i]->len != HASH_BYTES)
				continue;
			memcpy(&h, members->element[i]->str, HASH_BYTES);
			hash_map_put(seen, h, &is_new);
			if (is_new)
				*ret_sum = hash_add(*ret_sum, h);
		}
		freeReplyObject(reply);
	} while (strcmp(cursor, "0") != 0);
	return status;
}

int results_states(struct swarm_run *r, uint64_t max, uint64_t *ret_count, struct hash *ret_sum,
		   bool *ret_summed, struct err *err)
{
	struct hash_map seen = HASH_MAP_INIT;
	int status = 0;

	*ret_count = 0;
	*ret_sum = (struct hash){ 0 };
	for (unsigned i = 0; i < r->names.shards && !status; i++) {
		char key[SWARM_KEY_MAX];
		redisReply *reply;
		struct redis_link *l =
			redis_net_link(&r->net, swarm_shard_key(&r->names, "states", i, key));

		status = redis_link_ask(l, &reply, err, "SCARD %s", key);
		if (status)
			break;
		*ret_count += redis_reply_number(reply);
		freeReplyObject(reply);
	}
	*ret_summed = *ret_count <= max;
	for (unsigned i = 0; *ret_summed && i < r->names.shards && !status; i++)
		status = sum_shard(r, i, &seen, ret_sum, err);
	hash_map_free(&seen);
	return status;
}
