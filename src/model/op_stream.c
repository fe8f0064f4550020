/* op_stream.c -- directory streams: names that must come, and names that may.
 *
 * What was there when the stream was opened or rewound, and is still there, must come exactly
 * once. Names that came or went since may come: POSIX leaves that open, and file systems hand
 * out entries many at a time. */
#include "model/attr.h"

#include <stdlib.h>

#include "base/buf.h"

/* A list of names: sorted, each followed by NUL. Takes over the bytes' contents, not the memory. */
static struct blob *make_list(const struct buf *names)
{
	return blob_new(names->data, names->len);
}

static const char *next_stream_name(const struct blob *list, const char *name)
{
	name = name ? name + strlen(name) + 1 : list->bytes;
	return name < list->bytes + list->len ? name : NULL;
}

static const char *find_name(const struct blob *list, const char *name)
{
	for (const char *at = NULL; (at = next_stream_name(list, at));)
		if (!strcmp(at, name))
			return at;
	return NULL;
}

/* The list with one more name, at its place. */
static struct blob *list_with(const struct blob *list, const char *name)
{
	struct buf names = BUF_INIT;
	bool done = false;
	struct blob *with;

	for (const char *at = NULL; (at = next_stream_name(list, at));) {
		if (!done && strcmp(at, name) > 0) {
			buf_add(&names, name, strlen(name) + 1);
			done = true;
		}
		buf_add(&names, at, strlen(at) + 1);
	}
	if (!done)
		buf_add(&names, name, strlen(name) + 1);
	with = make_list(&names);
	buf_free(&names);
	return with;
}

/* The list without the first of the names like this one. */
static struct blob *list_without(const struct blob *list, const char *name)
{
	const char *found = find_name(list, name);
	struct buf names = BUF_INIT;
	struct blob *without;

	for (const char *at = NULL; (at = next_stream_name(list, at));)
		if (at != found)
			buf_add(&names, at, strlen(at) + 1);
	without = make_list(&names);
	buf_free(&names);
	return without;
}

static struct blob *share_names(struct blob *list)
{
	list->ref.count++;
	return list;
}

/* A stream in place of the one of this handle, or a new one. Takes over both lists. */
static void stream_put(struct step *x, unsigned pid, uint64_t handle, uint64_t ino,
		       struct blob *must_come, struct blob *may_come)
{
	struct dir_stream *stream = must_alloc(sizeof(*stream));

	*stream = (struct dir_stream){
		.ref.count = 1, .ino = ino, .must = must_come, .may = may_come
	};
	state_put_stream(x->state, pid, handle, stream);
}

static int by_stream_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All names of a directory, "." and ".." among them; a removed one has none. */
static struct blob *stream_names(const struct step *x, uint64_t dir)
{
	const struct inode *inode = tree_inode(&x->state->tree, dir);
	const char **all = must_alloc((inode->dir.entries.count + 2) * sizeof(*all));
	const struct entry *entry;
	struct buf names = BUF_INIT;
	struct blob *list;
	uint64_t cookie = 0;
	size_t count = 0;

	if (inode->nlink) {
		all[count++] = ".";
		all[count++] = "..";
	}
	while ((entry = tree_next_entry(&x->state->tree, dir, &cookie)))
		all[count++] = entry->name;
	qsort(all, count, sizeof(*all), by_stream_name);
	for (size_t i = 0; i < count; i++)
		buf_add(&names, all[i], strlen(all[i]) + 1);
	list = make_list(&names);
	buf_free(&names);
	free(all);
	return list;
}

static void start_stream(struct step *x, uint64_t handle, uint64_t dir)
{
	struct buf none = BUF_INIT;

	stream_put(x, x->pid, handle, dir, stream_names(x, dir), make_list(&none));
}

void model_opendir(struct step *x)
{
	const struct inode *inode = need_object(x, AT_FDCWD, &x->call->opendir.path, WALK_FOLLOW);
	int64_t handle = 1;

	if (!inode)
		return;
	if (!S_ISDIR(inode->mode))
		refuse(x, RULE_opendir_kind);
	if (!may_access(x, inode, MAY_READ))
		refuse(x, RULE_opendir_denied);
	if (!proceed(x))
		return;
	while (state_stream(x->state, x->pid, handle))
		handle++;
	start_stream(x, (uint64_t)handle, inode->ino);
	touch_access(x, inode->ino);
	give_num(x, RESULT_NUM, handle);
}

/* All names that may come, in the buffer that give_bytes() keeps. */
static void stream_offer(struct step *x, const struct dir_stream *stream)
{
	size_t len = stream->must->len + stream->may->len;
	char *names = give_bytes(x, RESULT_NAME, len, 0);

	memcpy(names, stream->must->bytes, stream->must->len);
	memcpy(names + stream->must->len, stream->may->bytes, stream->may->len);
	x->env->names = names;
	x->env->names_len = len;
	x->env->value.bytes = names;
	x->env->value.len = len ? strlen(names) : 0;
	x->env->value.end = !len;
}

/* Returns the name that was observed, or the one that the model would return. */
static void stream_read_name(struct step *x, const struct dir_stream *stream, uint64_t handle,
			     const char *name)
{
	struct blob *must_come = stream->must, *may_come = stream->may;
	uint64_t ino = stream->ino;

	if (find_name(must_come, name)) {
		must_come = list_without(must_come, name);
		share_names(may_come);
	} else if (find_name(may_come, name)) {
		may_come = list_without(may_come, name);
		share_names(must_come);
	} else {
		return;
	}
	stream_put(x, x->pid, handle, ino, must_come, may_come);
}

void model_readdir(struct step *x)
{
	int64_t handle = x->call->readdir.dh.num;
	const struct dir_stream *stream = state_stream(x->state, x->pid, handle);
	bool removed;

	if (!stream) {
		refuse(x, RULE_stream_bad);
		return;
	}
	removed = !tree_inode(&x->state->tree, stream->ino)->nlink;
	if (removed && !may_refuse(x, RULE_readdir_removed))
		may_refuse(x, RULE_readdir_position);
	x->env->end_allowed = !stream->must->len || removed;
	if (!proceed(x))
		return;
	stream_offer(x, stream);
	if (!x->env->value.end && !(x->seen && x->seen->end))
		stream_read_name(x, stream, (uint64_t)handle,
				 x->seen ? x->seen->bytes : x->env->value.bytes);
	touch_access(x, state_stream(x->state, x->pid, handle)->ino);
}

void model_rewinddir(struct step *x)
{
	int64_t handle = x->call->rewinddir.dh.num;
	const struct dir_stream *stream = state_stream(x->state, x->pid, handle);

	if (!stream)
		refuse(x, RULE_stream_bad);
	else if (proceed(x))
		start_stream(x, (uint64_t)handle, stream->ino);
}

void model_closedir(struct step *x)
{
	int64_t handle = x->call->closedir.dh.num;

	if (!state_stream(x->state, x->pid, handle))
		refuse(x, RULE_stream_bad);
	else if (proceed(x))
		state_close_stream(x->state, x->pid, handle);
}

/* A name came to a directory, or went from it, while the stream was open. */
static void stream_learn(struct step *x, unsigned pid, uint64_t handle,
			 const struct dir_stream *stream, const char *name, bool came)
{
	struct blob *must_come = stream->must, *may_come = stream->may;

	if (!came && !find_name(must_come, name))
		return;
	must_come = came ? share_names(must_come) : list_without(must_come, name);
	may_come = list_with(may_come, name);
	stream_put(x, pid, handle, stream->ino, must_come, may_come);
}

static void stream_learn_process(struct step *x, unsigned pid, uint64_t dir, const char *name,
				 bool came)
{
	const struct dir_stream *stream;
	uint64_t handle;

	for (bool first = true;; first = false) {
		stream = (void *)pmap_next(&state_process(x->state, pid)->streams, first, &handle);
		if (!stream)
			return;
		if (stream->ino == dir)
			stream_learn(x, pid, handle, stream, name, came);
	}
}

static void streams_learn(struct step *x, uint64_t dir, const char *name, size_t len, bool came)
{
	uint64_t pid;
	char *text;

	if (!x->state->streams)
		return;
	text = must_alloc(len + 1);
	memcpy(text, name, len);
	for (bool first = true; pmap_next(&x->state->processes, first, &pid); first = false)
		stream_learn_process(x, (unsigned)pid, dir, text, came);
	free(text);
}

void streams_added(struct step *x, uint64_t dir, const char *name, size_t len)
{
	streams_learn(x, dir, name, len, true);
}

void streams_removed(struct step *x, uint64_t dir, const char *name, size_t len)
{
	streams_learn(x, dir, name, len, false);
}
