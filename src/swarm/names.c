/* names.c -- the keys of a run on the server, and the scripts that change several of them. */
#include "swarm/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool swarm_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return len && len <= RUN_NAME_MAX;
}

const char *swarm_key(const struct swarm_names *n, const char *what, char ret[SWARM_KEY_MAX])
{
	snprintf(ret, SWARM_KEY_MAX, "assay:{%s}:%.40s", n->run, what);
	return ret;
}

const char *swarm_channel_key(const struct swarm_names *n, const char *what, const char *channel,
			      char ret[SWARM_KEY_MAX])
{
	snprintf(ret, SWARM_KEY_MAX, "assay:{%s}:%.20s:%.64s", n->run, what, channel);
	return ret;
}

const char *swarm_shard_key(const struct swarm_names *n, const char *what, unsigned shard,
			    char ret[SWARM_KEY_MAX])
{
	snprintf(ret, SWARM_KEY_MAX, "assay:{%s:%02x}:%.20s", n->run, shard, what);
	return ret;
}

unsigned swarm_shard(const struct swarm_names *n, struct hash h)
{
	return (unsigned)((h.hi >> 32) * n->shards >> 32);
}

/* KEYS[1] of the following scripts is assay:{RUN}:beats; names beside it are in the same slot. */
#define PREFIX "local p = KEYS[1]:sub(1, -6) "
#define NOW \
	"local t = redis.call('TIME') " \
	"local now = t[1] * 1000 + math.floor(t[2] / 1000) "
/* Claims of worker w are void. */
#define VOID \
	"local function void(w) " \
	"  redis.call('ZREM', KEYS[1], w) " \
	"  redis.call('SADD', p .. 'dead', w) " \
	"  for _, c in ipairs(redis.call('SMEMBERS', p .. 'channels')) do " \
	"    redis.call('HDEL', p .. 'waiting:' .. c, w) " \
	"  end " \
	"  redis.call('INCR', p .. 'freed') " \
	"end "

const char *const swarm_scripts[] = {
	/* KEYS: taken. ARGV: me, owners that count as none, hashes in one text. Returns the owners.
	 * Two commands for all of them: the way from a script to a command costs more than what a
	 * hash does there. */
	[SCRIPT_CLAIM] =
		"local void, works, free, me = {}, {}, {}, ARGV[1] "
		"for w in ARGV[2]:gmatch('%S+') do void[w] = true end "
		"for i = 1, #ARGV[3], 16 do works[#works + 1] = ARGV[3]:sub(i, i + 15) end "
		"local owners = redis.call('HMGET', KEYS[1], unpack(works)) "
		"for i, owner in ipairs(owners) do "
		"  if not owner or void[owner] then "
		"    free[#free + 1] = works[i] "
		"    free[#free + 1] = me "
		"    owners[i] = me "
		"  end "
		"end "
		"if #free > 0 then redis.call('HSET', KEYS[1], unpack(free)) end "
		"return table.concat(owners, ' ')",
	/* KEYS: taken. ARGV: owner, new owner or nothing, hashes. Returns how many were changed. */
	[SCRIPT_SWAP] = "local n = 0 "
			"for i = 1, #ARGV[3], 16 do "
			"  local h = ARGV[3]:sub(i, i + 15) "
			"  if redis.call('HGET', KEYS[1], h) == ARGV[1] then "
			"    n = n + 1 "
			"    if ARGV[2] == '' then redis.call('HDEL', KEYS[1], h) "
			"    else redis.call('HSET', KEYS[1], h, ARGV[2]) end "
			"  end "
			"end "
			"return n",
	/* ARGV: where it is, the server's process. Returns its number, which none had before: a
	 * server that was restarted may have lost the last of them, so that it continues with the
	 * ms since the run began. */
	[SCRIPT_JOIN] = PREFIX NOW "redis.call('SETNX', p .. 'began', now) "
				   "local w = redis.call('INCR', p .. 'number') "
				   "if redis.call('GET', p .. 'epoch') ~= ARGV[2] then "
				   "  redis.call('SET', p .. 'epoch', ARGV[2]) "
				   "  w = math.max(w, now - redis.call('GET', p .. 'began')) "
				   "  redis.call('SET', p .. 'number', w) "
				   "end "
				   "redis.call('ZADD', KEYS[1], now, w) "
				   "redis.call('HSET', p .. 'workers', w, ARGV[1]) "
				   "return w",
	/* ARGV: me, channel, ms after which a worker is dead (0: do not look for such). Returns
	 * whether I am a member, freed, dead, waiting, items, stopped, whether the run is there,
	 * members. */
	[SCRIPT_LOOK] = PREFIX NOW VOID
	"local member = 0 "
	"if redis.call('ZSCORE', KEYS[1], ARGV[1]) then "
	"  member = 1 redis.call('ZADD', KEYS[1], now, ARGV[1]) "
	"elseif redis.call('SISMEMBER', p .. 'banned', ARGV[1]) == 1 then member = 2 end "
	"if ARGV[3] ~= '0' then "
	"  local late = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[3]) "
	"  for _, w in ipairs(late) do void(w) end "
	"end "
	"local c = ARGV[2] "
	"return { member, tonumber(redis.call('GET', p .. 'freed') or 0), "
	"  redis.call('SCARD', p .. 'dead'), redis.call('HLEN', p .. 'waiting:' .. c), "
	"  redis.call('XLEN', p .. 'items:' .. c), redis.call('EXISTS', p .. 'stopped'), "
	"  redis.call('EXISTS', p .. 'about'), redis.call('ZCARD', KEYS[1]) }",
	/* ARGV: me, channel, the value of freed at which I looked ("" if I have to look again), my
	 * mark then. Returns 0 wait, 1 look again, 2 nothing is left. It is so once every member
	 * waits with this mark. */
	[SCRIPT_WAIT] = PREFIX
	"local me, c = ARGV[1], ARGV[2] "
	"if redis.call('EXISTS', p .. 'done:' .. c) == 1 then return 2 end "
	"local freed = redis.call('GET', p .. 'freed') or '0' "
	"local waiting = p .. 'waiting:' .. c "
	"if freed ~= ARGV[3] then redis.call('HDEL', waiting, me) return 1 end "
	"redis.call('HSET', waiting, me, ARGV[4]) "
	"if redis.call('XLEN', p .. 'items:' .. c) > 0 then return 0 end "
	"if redis.call('HLEN', waiting) < redis.call('ZCARD', KEYS[1]) then return 0 end "
	"for _, w in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do "
	"  if redis.call('HGET', waiting, w) ~= ARGV[4] then return 0 end "
	"end "
	"redis.call('SET', p .. 'done:' .. c, 1) "
	"return 2",
	/* ARGV: me; "done": my claims stay, "left": they are void, "bad": and I may not come back.
	 */
	[SCRIPT_LEAVE] = PREFIX VOID
	"local me = ARGV[1] "
	"if ARGV[2] == 'done' then redis.call('ZREM', KEYS[1], me) return 0 end "
	"if not redis.call('ZSCORE', KEYS[1], me) then return 0 end "
	"void(me) "
	"if ARGV[2] == 'left' then redis.call('SADD', p .. 'left', me) "
	"else redis.call('SADD', p .. 'banned', me) end "
	"return 1",
	/* ARGV: me, how often a part may be begun. Returns 0 nothing is left, 1 others have what is
	 * left, 2 the part of this entry is mine, 3 I count as dead, 4 there is no such run. What I
	 * have already comes first: its answer may not have reached me. */
	[SCRIPT_PART_TAKE] = PREFIX
	"local me, s, g = ARGV[1], p .. 'parts', 'workers' "
	"if redis.call('EXISTS', p .. 'about') == 0 then return { 4 } end "
	"if not redis.call('ZSCORE', KEYS[1], me) then return { 3 } end "
	"local others = 0 "
	"for _, e in ipairs(redis.call('XPENDING', s, g, '-', '+', 100000)) do "
	"  local id, who, times = e[1], e[2], e[4] "
	"  if who ~= me and redis.call('ZSCORE', KEYS[1], who) then "
	"    others = others + 1 "
	"  elseif times >= tonumber(ARGV[2]) then "
	"    redis.call('XACK', s, g, id) "
	"    redis.call('XDEL', s, id) "
	"    redis.call('SADD', p .. 'given_up', id) "
	"  else "
	"    redis.call('XCLAIM', s, g, me, 0, id) "
	"    return { 2, id } "
	"  end "
	"end "
	"local new = redis.call('XREADGROUP', 'GROUP', g, me, 'COUNT', 1, 'STREAMS', s, '>') "
	"if new then return { 2, new[1][2][1][1] } end "
	"return { others > 0 and 1 or 0 }",
	/* ARGV: the entry of a part, its number, what it has printed, whether it came to its end.
	 * Two that do one part write the same place. */
	[SCRIPT_PART_END] = PREFIX "redis.call('HSET', p .. 'results', ARGV[2], ARGV[3]) "
				   "if ARGV[4] == '1' then "
				   "  redis.call('XACK', p .. 'parts', 'workers', ARGV[1]) "
				   "  redis.call('XDEL', p .. 'parts', ARGV[1]) "
				   "end "
				   "return 1",
	NULL,
};

void swarm_begin_script(const struct redis_net *n, struct redis_link *l, enum swarm_script script,
			const char *key, size_t count)
{
	redis_link_begin(l, 4 + count);
	redis_link_args(l, "EVALSHA");
	redis_link_args(l, n->scripts[script]);
	redis_link_args(l, "1");
	redis_link_args(l, key);
}
