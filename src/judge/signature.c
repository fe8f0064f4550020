/* signature.c -- what a discrepancy of a tree is known by. */
#include "judge/signature.h"

#include <ctype.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

enum {
	HOW_MAX = 48,
	/* Of the data that calls write: seeds, bytes of each, and how many of them are enough. */
	GENERATED_SEEDS = 8,
	GENERATED_BYTES = 1 << 20,
	GENERATED_PART = 1 << 14,
	GENERATED_TOLD = 6,
	RENAME_WORDS = 2,
};

/* ---- how it differs ---- */

const char *signature_of_numbers(uint64_t expected, uint64_t seen)
{
	return seen < expected ? "too small" : "too large";
}

const char *signature_of_modes(uint32_t expected, uint32_t seen)
{
	return (expected ^ seen) & 0777 ? "" : "special bits";
}

static bool bytes_are_zero(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

static bool bytes_are_generated(const char *bytes)
{
	char made[GENERATED_PART + GENERATED_TOLD];

	for (uint64_t seed = 1; seed <= GENERATED_SEEDS; seed++)
		for (uint64_t at = 0; at < GENERATED_BYTES; at += GENERATED_PART) {
			data_fill(seed, at, made, sizeof(made));
			if (memmem(made, sizeof(made), bytes, GENERATED_TOLD))
				return true;
		}
	return false;
}

/* Whether calls may have written the bytes, as far as a few of them can tell: text, or what the
 * generator of data makes, at one end of what is not zero at least. What the file system keeps for
 * itself is neither. */
static bool bytes_are_written(const char *bytes, size_t len)
{
	size_t run, text = 0;

	while (len && !*bytes) {
		bytes++;
		len--;
	}
	for (run = 0; run < len && bytes[run]; run++)
		text += isprint((unsigned char)bytes[run]) != 0;
	return run < GENERATED_TOLD || text == run || bytes_are_generated(bytes) ||
	       bytes_are_generated(bytes + run - GENERATED_TOLD);
}

/* Lost data reads as zeros; data that should be gone, or never was there, is stale; what no call
 * wrote is foreign. */
static const char *signature_of_data(const struct fact *fact, const struct tree *expected,
				     const struct tree *seen)
{
	char e[FACT_BYTES_MAX], s[FACT_BYTES_MAX];
	size_t e_len, s_len;

	e_len = tree_read(expected, fact_inode(expected, fact->path), fact->offset, e, sizeof(e));
	s_len = tree_read(seen, fact_inode(seen, fact->path), fact->offset, s, sizeof(s));
	if (bytes_are_zero(s, s_len))
		return "zeros";
	if (!bytes_are_written(s, s_len))
		return "foreign";
	return bytes_are_zero(e, e_len) ? "stale" : "other";
}

static const char *signature_of_xattr(const struct fact *fact, const struct inode *seen)
{
	if (fact->absent)
		return "extra";
	return tree_xattr(seen, fact->name) ? "changed" : "lost";
}

/* What the walk could not do: "getxattr ENODATA". */
static const char *signature_of_walk(const struct fact *fact, char ret[HOW_MAX])
{
	snprintf(ret, HOW_MAX, "%s %s", fact->call, errno_name(fact->error));
	return ret;
}

static const char *signature_how(const struct fact *fact, const struct tree *expected,
				 const struct tree *seen, char scratch[HOW_MAX])
{
	const struct inode *e = tree_inode(expected, fact_inode(expected, fact->path));
	const struct inode *s = tree_inode(seen, fact_inode(seen, fact->path));

	if (fact->by_name)
		return "by one name";
	if (!e || !s)
		return "";
	switch (fact->kind) {
	case FACT_UNREADABLE:
		return signature_of_walk(fact, scratch);
	case FACT_SIZE:
		return signature_of_numbers(e->size, s->size);
	case FACT_NLINK:
		return signature_of_numbers(e->nlink, s->nlink);
	case FACT_DATA:
		return signature_of_data(fact, expected, seen);
	case FACT_MODE:
		return signature_of_modes(e->mode, s->mode);
	case FACT_XATTR:
		return signature_of_xattr(fact, s);
	default:
		return "";
	}
}

/* ---- where ---- */

/* Is it the object that the path names, or the directory that this one lies in? */
static bool signature_is_at(const char *where, const char *path, const struct tree *t)
{
	size_t len = strlen(path), parent = len;
	uint64_t ino;

	while (parent && path[parent - 1] != '/')
		parent--;
	if (!strcmp(where, "/") && !parent)
		return true;
	if (parent && strlen(where) == parent && !strncmp(where + 1, path, parent - 1))
		return true;
	ino = fact_inode(t, where);
	return !strcmp(where + 1, path) || (ino && ino == fact_inode(t, path));
}

/* Is it another object than those that the call names? Only paths from the root are looked at, and
 * descriptors are not looked through. */
static bool signature_is_elsewhere(const struct call *c, const char *where, const struct state *s)
{
	const struct op_info *info = &op_table[c->op];
	const struct process *process = state_process(s, c->pid);
	bool named = false;

	if (!process || process->cwd != TREE_ROOT)
		return false;

	for (unsigned i = 0; i < info->args; i++) {
		if (info->arg[i].kind == KIND_FD || info->arg[i].kind == KIND_DH)
			return false;
		if (info->arg[i].kind != KIND_PATH || !c->arg[i].text)
			continue;
		named = true;
		if (signature_is_at(where, c->arg[i].text, &s->tree))
			return false;
	}
	return named;
}

/* The text up to its last slash, without it. */
static size_t path_parent_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static const char rename_exchange[] = "exchange", rename_whiteout[] = "whiteout",
		  rename_across[] = "to another directory";

bool signature_is_of_rename(const char *word)
{
	return !strcmp(word, rename_exchange) || !strcmp(word, rename_whiteout) ||
	       !strcmp(word, rename_across);
}

/* Renaming is several calls in one: which of them it was. */
static size_t signature_of_rename(const struct call *c, const char *ret[RENAME_WORDS])
{
	const struct op_info *info = &op_table[c->op];
	const char *paths[2] = { NULL, NULL };
	size_t count = 0, path_count = 0, len;
	int64_t flags = 0;

	if (info->base != OP_rename)
		return 0;
	for (unsigned i = 0; i < info->args; i++) {
		if (info->arg[i].kind == KIND_PATH && path_count < ARRAY_LEN(paths))
			paths[path_count++] = c->arg[i].text;
		if (info->arg[i].kind == KIND_RENAME_FLAGS)
			flags = c->arg[i].num;
	}
	if (flags & (RENAME_EXCHANGE | RENAME_WHITEOUT))
		ret[count++] = flags & RENAME_EXCHANGE ? rename_exchange : rename_whiteout;
	if (!paths[0] || !paths[1])
		return count;
	len = path_parent_len(paths[0]);
	if (len != path_parent_len(paths[1]) || strncmp(paths[0], paths[1], len))
		ret[count++] = rename_across;
	return count;
}

static bool signature_is_directory(const struct fact *fact, const struct tree *expected)
{
	const struct inode *inode = tree_inode(expected, fact_inode(expected, fact->path));

	return inode && S_ISDIR(inode->mode);
}

static const char *signature_of_bytes(const struct outcome *expected, const struct outcome *seen)
{
	size_t at = 0, len = seen->len < expected->len ? seen->len : expected->len;

	while (at < len && seen->bytes[at] == expected->bytes[at])
		at++;
	if (at == len)
		return seen->len < expected->len ? "too short" : "too long";
	if (bytes_are_zero(seen->bytes + at, len - at))
		return "zeros";
	return bytes_are_zero(expected->bytes + at, len - at) ? "stale" : "other";
}

static const char *signature_of_stat(const struct stat_result *expected,
				     const struct stat_result *seen)
{
	if (expected->mode != seen->mode)
		return "mode";
	if (expected->nlink != seen->nlink)
		return "links";
	return expected->size != seen->size ? "size" : "";
}

/* What is wrong with a file, in words: "byte is not zero, but lseek reports a hole there". */
static const char *signature_of_inspection(const struct outcome *seen, char ret[HOW_MAX])
{
	size_t len = 0;

	for (size_t i = 0; i < seen->len && seen->bytes[i] && len + 1 < HOW_MAX; i++) {
		char c = seen->bytes[i];
		bool follows_space = !len || ret[len - 1] == ' ';

		if (islower((unsigned char)c) || isupper((unsigned char)c) || c == '_' ||
		    (c == ' ' && !follows_space))
			ret[len++] = c;
	}
	if (len && ret[len - 1] == ' ')
		len--;
	ret[len] = '\0';
	return ret;
}

static const char *signature_of_name(const struct call *c, const struct state *before,
				     const struct outcome *seen)
{
	const struct dir_stream *stream = state_stream(before, c->pid, c->readdir.dh.num);

	if (seen->end)
		return "the end";
	if (!stream || !seen->len)
		return "";
	/* No name of ours begins with a dot. */
	return seen->bytes[0] == '.' ||
			       tree_find(&before->tree, stream->ino, seen->bytes, seen->len)
		     ? "out of place"
		     : "not in the directory";
}

void signature_of_value(char ret[SIGNATURE_MAX], const struct call *c, const struct state *before,
			const struct outcome *expected, const struct outcome *seen)
{
	const char *name = op_table[op_table[c->op].base].name, *how = "";
	char scratch[HOW_MAX];

	if (op_table[c->op].base == OP_inspect_file)
		how = signature_of_inspection(seen, scratch);
	else if (seen->result == RESULT_NAME)
		how = signature_of_name(c, before, seen);
	else if (seen->result == RESULT_BYTES)
		how = signature_of_bytes(expected, seen);
	else if (seen->result == RESULT_STAT)
		how = signature_of_stat(&expected->stat, &seen->stat);
	else if (seen->result == RESULT_NUM)
		how = signature_of_numbers((uint64_t)expected->num, (uint64_t)seen->num);
	snprintf(ret, SIGNATURE_MAX, "OUTCOME %s value%s%s%s", name, *how ? " (" : "", how,
		 *how ? ")" : "");
}

void signature_of_tree(char ret[SIGNATURE_MAX], const struct call *c, const struct fact *fact,
		       const struct state *expected, const struct tree *seen)
{
	char scratch[HOW_MAX];
	const char *words[3 + RENAME_WORDS];
	size_t count = 0, len;

	len = (size_t)snprintf(ret, SIGNATURE_MAX, "TREE %s %s",
			       op_table[op_table[c->op].base].name,
			       fact ? fact_names[fact->kind] : "tree");
	if (!fact)
		return;
	words[count] = signature_how(fact, &expected->tree, seen, scratch);
	count += words[count][0] != '\0';
	if (signature_is_directory(fact, &expected->tree))
		words[count++] = "directory";
	count += signature_of_rename(c, words + count);
	if (signature_is_elsewhere(c, fact->path, expected))
		words[count++] = "elsewhere";
	for (size_t i = 0; i < count; i++)
		len += (size_t)snprintf(ret + len, SIGNATURE_MAX - len, "%s%s%s", i ? ", " : " (",
					words[i], i + 1 == count ? ")" : "");
}

enum fact_kind signature_fact(const char *signature)
{
	char problem[16], first[32], second[32];
	int words = sscanf(signature, "%15s %31s %31s", problem, first, second);
	const char *name = words == 3 && !strcmp(problem, "TREE") ? second : first;
	enum fact_kind kind = 0;

	if (words < 2)
		return FACT_KINDS;
	while (kind < FACT_KINDS && strcmp(fact_names[kind], name))
		kind++;
	return kind;
}
