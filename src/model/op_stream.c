/* op_stream.c -- directory streams: names that must come, and names that may.
 *
 * What was there when the stream was opened or rewound, and is still there, must come exactly
 * once. Names that came or went since may come: POSIX leaves that open, and file systems hand
 * out entries many at a time. Behind a position that telldir gave, the same names come again, and
 * none of those before it: XSH readdir leaves open only what is added or removed, so other names
 * keep their places whatever happens to the directory. */
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

/* A stream in place of the one of this handle, or a new one. Takes over the lists. */
static void stream_put(struct step *x, unsigned pid, uint64_t handle, struct dir_stream lists)
{
	struct dir_stream *stream = must_alloc(sizeof(*stream));

	*stream = lists;
	stream->ref.count = 1;
	state_put_stream(x->state, pid, handle, stream);
}

/* The names that came with one more, behind its mark. */
static struct blob *reads_with(const struct blob *reads, char mark, const char *name)
{
	struct buf all = BUF_INIT;
	struct blob *with;

	buf_add(&all, reads->bytes, reads->len);
	buf_addch(&all, mark);
	buf_add(&all, name, strlen(name) + 1);
	with = make_list(&all);
	buf_free(&all);
	return with;
}

/* The names that came, after this one was removed. */
static struct blob *reads_without(const struct blob *reads, const char *name)
{
	struct buf all = BUF_INIT;
	struct blob *without;

	buf_add(&all, reads->bytes, reads->len);
	for (const char *at = NULL; (at = next_stream_name(reads, at));)
		if (!strcmp(at + 1, name))
			all.data[at - reads->bytes] = READ_CHANGED;
	without = make_list(&all);
	buf_free(&all);
	return without;
}

static int by_stream_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All names of a directory, sorted, "." and ".." among them where that is asked for; a removed one
 * has none. */
static struct blob *stream_names(const struct step *x, uint64_t dir, bool dots)
{
	const struct inode *inode = tree_inode(&x->state->tree, dir);
	const char **all = must_alloc((inode->dir.entries.count + 2) * sizeof(*all));
	const struct entry *entry;
	struct buf names = BUF_INIT;
	struct blob *list;
	uint64_t cookie = 0;
	size_t count = 0;

	if (inode->nlink && dots) {
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

	stream_put(x, x->pid, handle,
		   (struct dir_stream){ .ino = dir,
					.must = stream_names(x, dir, !x->model->traits.no_dots),
					.may = make_list(&none),
					.read = make_list(&none) });
}

/* A directory that may be opened for reading; NULL after refusing. */
static const struct inode *need_readable_directory(struct step *x, const struct arg *path)
{
	const struct inode *inode = need_object(x, AT_FDCWD, path, WALK_FOLLOW);

	if (!inode)
		return NULL;
	if (!S_ISDIR(inode->mode))
		refuse(x, RULE_opendir_kind);
	if (!may_access(x, inode, MAY_READ))
		refuse(x, RULE_opendir_denied);
	return inode;
}

void model_opendir(struct step *x)
{
	const struct inode *inode = need_readable_directory(x, &x->call->opendir.path);
	int64_t handle = 1;

	if (!inode || !proceed(x))
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
	struct dir_stream lists = *stream;
	bool stayed = find_name(lists.must, name);

	if (!stayed && !find_name(lists.may, name))
		return;
	lists.must = stayed ? list_without(lists.must, name) : share_names(lists.must);
	lists.may = stayed ? share_names(lists.may) : list_without(lists.may, name);
	lists.read = reads_with(lists.read, stayed ? READ_STAYED : READ_CHANGED, name);
	stream_put(x, x->pid, handle, lists);
}

/* What getdents64 returns of a removed directory. */
static void refuse_removed(struct step *x)
{
	if (!may_refuse(x, RULE_readdir_removed))
		may_refuse(x, RULE_readdir_position);
}

void model_readdir(struct step *x)
{
	int64_t handle = x->call->readdir.dh.num;
	const struct dir_stream *stream = state_stream(x->state, x->pid, handle);
	const char *name;
	bool removed;

	if (!stream) {
		refuse(x, RULE_stream_bad);
		return;
	}
	removed = !tree_inode(&x->state->tree, stream->ino)->nlink;
	if (removed)
		refuse_removed(x);
	x->env->end_allowed = !stream->must->len || removed;
	if (!proceed(x))
		return;
	stream_offer(x, stream);
	/* A trace may have no name: "readdir(1) = 0". */
	name = x->seen && (x->seen->end || x->seen->bytes) ? x->seen->bytes : x->env->value.bytes;
	if (!x->env->value.end && !(x->seen && x->seen->end))
		stream_read_name(x, stream, (uint64_t)handle, name);
	touch_access(x, state_stream(x->state, x->pid, handle)->ino);
}

void model_list_dir(struct step *x)
{
	const struct inode *inode = need_readable_directory(x, &x->call->list_dir.path);
	struct blob *names;

	if (inode && S_ISDIR(inode->mode) && !inode->nlink)
		refuse_removed(x);
	if (!inode || !proceed(x))
		return;
	names = stream_names(x, inode->ino, false);
	memcpy(give_bytes(x, RESULT_NAMES, names->len, names->len), names->bytes, names->len);
	blob_drop(names);
	touch_access(x, inode->ino);
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

/* The place in the list behind the first n names that came; NULL where there are fewer. */
static const char *reads_behind(const struct blob *reads, int64_t n)
{
	const char *at = reads->bytes;

	for (; n > 0 && at < reads->bytes + reads->len; n--)
		at += strlen(at) + 1;
	return n ? NULL : at;
}

/* Goes back to a place in the list: the names behind it come again. */
static void stream_go_back(struct step *x, uint64_t handle, const struct dir_stream *stream,
			   const char *from)
{
	const struct blob *reads = stream->read;
	struct dir_stream lists = *stream;
	struct blob **list, *grown;

	share_names(lists.must);
	share_names(lists.may);
	for (const char *at = from; at < reads->bytes + reads->len; at += strlen(at) + 1) {
		list = *at == READ_STAYED ? &lists.must : &lists.may;
		grown = list_with(*list, at + 1);
		blob_drop(*list);
		*list = grown;
	}
	lists.read = blob_new(reads->bytes, (size_t)(from - reads->bytes));
	stream_put(x, x->pid, handle, lists);
}

void model_seekdir(struct step *x)
{
	int64_t handle = x->call->seekdir.dh.num, position = x->call->seekdir.position.num;
	const struct dir_stream *stream = state_stream(x->state, x->pid, handle);
	const char *to;

	if (!stream) {
		refuse(x, RULE_stream_bad);
		return;
	}
	to = reads_behind(stream->read, position - 1);
	if (!to || position > POSITION_MAX)
		refuse(x, RULE_seekdir_position);
	else if (!tree_inode(&x->state->tree, stream->ino)->nlink)
		may_refuse(x, RULE_seekdir_removed);
	if (proceed(x))
		stream_go_back(x, (uint64_t)handle, stream, to);
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
	struct dir_stream lists = *stream;
	bool waits = find_name(lists.must, name); /* it has not come yet */

	lists.must = came || !waits ? share_names(lists.must) : list_without(lists.must, name);
	lists.may = came || waits ? list_with(lists.may, name) : share_names(lists.may);
	lists.read = came ? share_names(lists.read) : reads_without(lists.read, name);
	stream_put(x, pid, handle, lists);
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
