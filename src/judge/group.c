/* group.c -- which discrepancies have one cause. */
#include "judge/group.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/must.h"
#include "judge/severity.h"
#include "judge/signature.h"

enum { WORD_MAX = 32 };

static void group_put_field(char ret[SIGNATURE_MAX], const char *field, bool directory,
			    const char *how)
{
	snprintf(ret, SIGNATURE_MAX, "%s of %s%s%s", field, directory ? "directories" : "files",
		 *how ? ", " : "", how);
}

/* ---- a field of an object, in a tree or by stat ---- */

/* Is it the call itself that gives the field its value, or that brings back what is on the disk? */
static bool group_is_of_call(enum fact_kind kind, const char *call, const char *words)
{
	const unsigned own = TRAIT_DATA | TRAIT_SYNC | TRAIT_ENV;
	int op = op_find(call);

	if (severity_of_fact(kind) == SEVERITY_METADATA)
		return false;
	if (kind == FACT_UNREADABLE)
		return !strstr(words, "xattr");
	return kind != FACT_SIZE || op < 0 || op_table[op].traits & own;
}

/* "TREE rename nlink (too small, directory, elsewhere)" */
static bool group_put_tree(char ret[SIGNATURE_MAX], const char *signature)
{
	enum fact_kind kind = signature_fact(signature);
	char call[WORD_MAX], words[SIGNATURE_MAX] = "", *at = words;
	const char *how = "";
	bool directory = false, elsewhere = false;

	if (kind == FACT_KINDS || sscanf(signature, "TREE %31s %*s (%159[^)]", call, words) < 1 ||
	    group_is_of_call(kind, call, words))
		return false;
	for (char *word; (word = strsep(&at, ","));) {
		word += strspn(word, " ");
		if (!strcmp(word, "directory"))
			directory = true;
		else if (!strcmp(word, "elsewhere"))
			elsewhere = true;
		else if (!signature_is_of_rename(word))
			how = word;
	}
	group_put_field(ret, fact_names[kind], directory, how);
	/* A cache that is stale is that of an object in use; others lose data. */
	if (elsewhere && severity_of_fact(kind) == SEVERITY_DATA)
		strncat(ret, ", elsewhere", SIGNATURE_MAX - strlen(ret) - 1);
	return true;
}

/* The heaviest field, as in a tree. */
static bool group_put_stat(char ret[SIGNATURE_MAX], const struct stat_result *expected,
			   const struct stat_result *seen)
{
	bool directory = S_ISDIR(expected->mode);

	if ((expected->mode ^ seen->mode) & S_IFMT)
		return false;
	if (stat_differs(expected->size, seen->size))
		group_put_field(ret, fact_names[FACT_SIZE], directory,
				signature_of_numbers((uint64_t)expected->size,
						     (uint64_t)seen->size));
	else if (expected->mode != seen->mode)
		group_put_field(ret, fact_names[FACT_MODE], directory,
				signature_of_modes(expected->mode, seen->mode));
	else if (stat_differs(expected->uid, seen->uid) || stat_differs(expected->gid, seen->gid))
		group_put_field(ret, fact_names[FACT_OWNER], directory, "");
	else if (stat_differs(expected->nlink, seen->nlink))
		group_put_field(ret, fact_names[FACT_NLINK], directory,
				signature_of_numbers((uint64_t)expected->nlink,
						     (uint64_t)seen->nlink));
	else
		return false;
	return true;
}

/* Does the outcome of a call on descriptors show that names of one file are different inodes? It
 * returned data that another inode has, or Linux did not see that both are one file
 * (generic_copy_file_checks, flock_lock_inode). */
static bool outcome_is_of_names(const struct discrepancy *d)
{
	const char *rule = discrepancy_rule(d);

	if (d->code != PROBLEM_OUTCOME || !d->has_names || !d->answered || d->answer.error)
		return false;
	if (d->success_allowed)
		return d->answer.result == RESULT_BYTES;
	return !strcmp(rule, "copy_overlap") || !strcmp(rule, "lock_busy");
}

/* Is it the mode or owner by the name that a link has just made? The kernel has asked the daemon
 * for that one. */
static bool fact_is_of_new_name(const struct discrepancy *d, const struct fact *fact)
{
	const struct op_info *op = &op_table[d->call.op];
	const char *name = NULL;

	if (op->base != OP_link || fact->by_name || !fact->path)
		return false;
	if (fact->kind != FACT_MODE && fact->kind != FACT_OWNER)
		return false;
	for (unsigned i = 0; i < op->args; i++)
		if (op->arg[i].kind == KIND_PATH)
			name = d->call.arg[i].text;
	return name && !strcmp(fact->path + 1, name);
}

/* Has a name gone that the file was counted by? Other names are what it has left. */
static bool fact_is_of_lost_name(const struct discrepancy *d, const struct fact *fact)
{
	enum op base = op_table[d->call.op].base;

	return fact->kind == FACT_NLINK && !S_ISDIR(fact->mode) &&
	       (base == OP_unlink || base == OP_rename);
}

/* libfuse has a node for each name, so that the kernel caches attributes, times and pages of a file
 * by name, and every call on such a file may show that. */
static bool group_put_names(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const struct fact *fact = d->fact_count ? d->facts : NULL;
	const struct stat_result *stat = NULL;
	bool several = outcome_is_of_names(d);

	if (d->code == PROBLEM_OUTCOME && d->answered && d->success_allowed && !d->answer.error &&
	    d->answer.result == RESULT_STAT && !S_ISDIR(d->value.stat.mode))
		stat = &d->value.stat;
	if (fact && (d->code == PROBLEM_TREE || d->code == PROBLEM_DRIFT) &&
	    fact->kind >= FACT_SIZE && fact->kind <= FACT_XATTR)
		several =
			fact_is_of_lost_name(d, fact) ||
			(fact->nlink > 1 && !S_ISDIR(fact->mode) && !fact_is_of_new_name(d, fact));
	if (fact && d->code == PROBLEM_TIMES && fact->wrong != TIME_NOT_AS_GIVEN)
		several = fact->nlink > 1 && !S_ISDIR(fact->mode);
	if (stat)
		several = stat->nlink > 1;
	if (!d->is_cached || !several)
		return false;
	snprintf(ret, SIGNATURE_MAX, "files with several names, cached by each name");
	return true;
}

/* A daemon that does not clear what is behind the end of a file shows it whatever makes the file
 * grow, or the kernel read it again. The kernel clears only what it adds. */
static bool group_put_stale(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const struct fact *fact = d->code == PROBLEM_TREE && d->fact_count ? d->facts : NULL;

	if (!d->is_cached || !fact || fact->kind != FACT_DATA)
		return false;
	if (!strstr(d->signature, " data (stale") && !strstr(d->signature, " data (foreign"))
		return false;
	snprintf(ret, SIGNATURE_MAX, "data of files, stale");
	return true;
}

/* A daemon that caches sizes itself, and does not notice some of the calls that change them: the
 * size is that from before the call, or the data that a read returns is shorter or longer. */
static bool group_put_stale_size(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const struct fact *fact = d->code == PROBLEM_TREE && d->fact_count ? d->facts : NULL;
	bool reads = fact && fact->kind == FACT_UNREADABLE && fact->call &&
		     !strcmp(fact->call, "read") &&
		     (fact->error == ENODATA || fact->error == EFBIG);

	if (!d->is_cached || !fact || !S_ISREG(fact->mode) || !(reads || d->is_stale))
		return false;
	snprintf(ret, SIGNATURE_MAX, "size of files, stale");
	return true;
}

/* A daemon that counts subdirectories itself, and wrongly, has too few here and too many there. */
static bool group_put_subdirectories(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const struct fact *fact = d->code == PROBLEM_TREE && d->fact_count ? d->facts : NULL;

	if (!d->is_cached || !fact || fact->kind != FACT_NLINK || !S_ISDIR(fact->mode))
		return false;
	snprintf(ret, SIGNATURE_MAX, "nlink of directories");
	return true;
}

/* A daemon that follows symbolic links does so for every call on attributes: whatever the name
 * leads to, or that it leads nowhere, is one cause. */
static bool group_put_symlink(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const struct fact *fact = d->code == PROBLEM_TREE && d->fact_count ? d->facts : NULL;

	if (!fact || !S_ISLNK(fact->mode) || !strstr(d->signature, "xattr"))
		return false;
	if (fact->kind != FACT_UNREADABLE && fact->kind != FACT_XATTR)
		return false;
	snprintf(ret, SIGNATURE_MAX, "xattr of symbolic links");
	return true;
}

/* A daemon that masks the modes it is given does so for files, directories and special files. */
static bool group_put_new_bits(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const struct fact *fact = d->code == PROBLEM_TREE && d->fact_count ? d->facts : NULL;
	const struct op_info *op = &op_table[d->call.op];
	int64_t given = 0;

	if (!fact || fact->kind != FACT_MODE || !(op->traits & TRAIT_NAMES) ||
	    !strstr(d->signature, "(special bits"))
		return false;
	for (unsigned i = 0; i < op->args; i++)
		if (op->arg[i].kind == KIND_MODE || op->arg[i].kind == KIND_NODE_MODE)
			given = d->call.arg[i].num;
	/* What is inherited is another matter. */
	if (!(given & fact->mode & (S_ISUID | S_ISGID | S_ISVTX)))
		return false;
	snprintf(ret, SIGNATURE_MAX, "mode of new objects, special bits");
	return true;
}

/* A daemon that does not make objects as the caller does so for files, directories and special
 * files by one function, or by the same mistake. */
static bool group_put_new_owner(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	static const enum op makes[] = { OP_open, OP_mknod, OP_mkdir, OP_symlink, OP_write };
	const struct fact *fact = d->code == PROBLEM_TREE && d->fact_count ? d->facts : NULL;
	enum op base = op_table[d->call.op].base;

	if (!fact || fact->kind != FACT_OWNER || strstr(d->signature, "elsewhere"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(makes); i++)
		if (makes[i] == base) {
			snprintf(ret, SIGNATURE_MAX, "owner of new objects");
			return true;
		}
	return false;
}

/* What chmod and chown set is set by one function, whatever the object is. */
static bool group_put_set(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const struct fact *fact = d->code == PROBLEM_TREE && d->fact_count ? d->facts : NULL;
	enum op base = op_table[d->call.op].base;

	if (!fact || strstr(d->signature, "elsewhere"))
		return false;
	if (base == OP_chmod && fact->kind == FACT_MODE)
		snprintf(ret, SIGNATURE_MAX, "mode that chmod sets%s",
			 strstr(d->signature, "special bits") ? ", special bits" : "");
	else if (base == OP_chown && fact->kind == FACT_OWNER)
		snprintf(ret, SIGNATURE_MAX, "owner that chown sets");
	else
		return false;
	return true;
}

/* Bytes that are copied to the wrong place are missing in one place, too much in another, or make
 * the file too short. */
static bool group_put_copy(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const struct fact *fact = d->code == PROBLEM_TREE && d->fact_count ? d->facts : NULL;

	if (!fact || op_table[d->call.op].base != OP_copy_file_range ||
	    strstr(d->signature, "elsewhere"))
		return false;
	if (fact->kind != FACT_SIZE && fact->kind != FACT_DATA)
		return false;
	snprintf(ret, SIGNATURE_MAX, "data that copy_file_range writes");
	return true;
}

/* Names that are listed where nothing is by that name: they come from elsewhere, not from the call
 * behind which they are met. */
static bool group_put_ghost(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const struct fact *fact = d->code == PROBLEM_TREE && d->fact_count ? d->facts : NULL;

	if (!fact || fact->kind != FACT_EXTRA || !fact->call)
		return false;
	snprintf(ret, SIGNATURE_MAX, "names that are listed, but %s gives %s", fact->call,
		 errno_name(fact->error));
	return true;
}

/* The names that libfuse gives to open files that are removed, whatever call they are met behind.
 */
static bool group_put_hidden(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const struct fact *fact = d->code == PROBLEM_TREE && d->fact_count ? d->facts : NULL;

	if (!fact || fact->kind != FACT_EXTRA || !fact->path ||
	    !strstr(fact->path, "/.fuse_hidden"))
		return false;
	snprintf(ret, SIGNATURE_MAX, "removed files that are open have another name");
	return true;
}

/* ---- outcomes ---- */

/* Calls that a file system has all together, or has not; any other call is alone. */
static const struct {
	const char *call, *feature;
} features[] = {
	{ "setxattr", "xattr" },
	{ "getxattr", "xattr" },
	{ "listxattr", "xattr" },
	{ "removexattr", "xattr" },
	{ "mmap", "mmap" },
	{ "map_read", "mmap" },
	{ "map_write", "mmap" },
	{ "msync", "mmap" },
	{ "set_inode_flags", "inode flags" },
	{ "get_inode_flags", "inode flags" },
	{ "symlink", "symlink" },
	{ "readlink", "symlink" },
};

static const char *feature_of_call(const char *call)
{
	for (size_t i = 0; i < ARRAY_LEN(features); i++)
		if (!strcmp(features[i].call, call))
			return features[i].feature;
	return call;
}

/* Errors by which a file system says that it has no such thing. */
static bool error_is_lack(const char *call, const char *error)
{
	static const struct {
		const char *error, *call; /* NULL: any */
	} lacks[] = {
		{ "ENOSYS", NULL },   { "EOPNOTSUPP", NULL },   { "ENOTTY", NULL },
		{ "EPERM", "link" },  { "EPERM", "symlink" },   { "EPERM", "mknod" },
		{ "ENODEV", "mmap" }, { "ENODEV", "map_read" }, { "ENODEV", "map_write" },
	};

	for (size_t i = 0; i < ARRAY_LEN(lacks); i++)
		if (!strcmp(lacks[i].error, error) &&
		    (!lacks[i].call || !strcmp(lacks[i].call, call)))
			return true;
	return false;
}

/* Errors that say something of the file system, whatever the call. */
static bool error_is_of_all(const char *error)
{
	static const char *const errors[] = { "ENOSPC", "EDQUOT", "EROFS", "ESTALE", "ENOTCONN" };

	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (!strcmp(errors[i], error))
			return true;
	return false;
}

/* A daemon that looks up the name of an open file again does so for every call on the descriptor;
 * XSH has no such error for any of them. */
static bool error_is_of_lookup(const struct discrepancy *d, const char *error)
{
	const struct op_info *op = &op_table[d->call.op];

	return op->args && op->arg[0].kind == KIND_FD && !strcmp(error, "ENOENT");
}

/* A daemon that has opened the file in another way than was asked for, or shares what it has opened
 * among descriptors, does so for all calls that read or write: XSH has EBADF of them where the
 * descriptor is not open for that, which the kernel checks before it asks the daemon, and the
 * others not at all. */
static bool error_is_of_open(const struct discrepancy *d, const char *error)
{
	static const char *const errors[] = { "EPERM", "EACCES", "EBADF" };
	const struct op_info *op = &op_table[d->call.op];
	bool io = op->base == OP_read || op->base == OP_write || op->base == OP_truncate;

	if (!op->args || op->arg[0].kind != KIND_FD || !io)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (!strcmp(errors[i], error))
			return true;
	return false;
}

/* A daemon that passes O_DIRECT on has other buffers than the caller, which are not aligned. */
static bool error_is_of_direct(const struct discrepancy *d, const char *error)
{
	return (d->call.op == OP_direct_read || d->call.op == OP_direct_write) &&
	       !strcmp(error, "EINVAL");
}

/* Rules about names of extended attributes: what does not check them breaks all. */
static bool rule_is_of_xattr_names(const char *rule)
{
	return !strcmp(rule, "xattr_space") || !strcmp(rule, "xattr_name_bare");
}

/* What does not look whether there is something to remove, looks at no name. */
static bool outcome_is_of_removal(const struct discrepancy *d)
{
	return op_table[d->call.op].base == OP_removexattr && d->answered && !d->answer.error &&
	       !d->success_allowed;
}

/* What fails when the kernel writes back what it holds fails in every call that has it do so. */
static bool error_is_of_writeback(const struct discrepancy *d)
{
	static const enum op calls[] = { OP_fsync,  OP_fdatasync,   OP_sync,
					 OP_syncfs, OP_drop_caches, OP_msync };

	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (op_table[d->call.op].base == calls[i])
			return d->is_cached;
	return false;
}

/* A daemon, or the kernel by what it said, that believes a name to be there, or not to be there,
 * does so for every call that begins by looking the name up. Rename has other reasons. */
static bool error_is_of_name(const struct discrepancy *d, const char *error)
{
	const struct op_info *op = &op_table[d->call.op];

	if (!d->is_cached || !op->args || op->base == OP_rename)
		return false;
	if (!strcmp(error, "EEXIST"))
		return op->traits & TRAIT_NAMES;
	return !strcmp(error, "ENOENT") && op->arg[0].kind == KIND_PATH;
}

/* What does not look at XATTR_CREATE does not look at XATTR_REPLACE. */
static bool outcome_is_of_flags(const struct discrepancy *d, const char *rule)
{
	return op_table[d->call.op].base == OP_setxattr && d->answered && !d->answer.error &&
	       (!strcmp(rule, "xattr_exists") || !strcmp(rule, "xattr_absent"));
}

/* "OUTCOME rename ENOENT for EEXIST" */
static bool group_put_outcome(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	char call[WORD_MAX], seen[WORD_MAX], wanted[WORD_MAX];
	const char *rule = discrepancy_rule(d);
	bool succeeds;

	if (sscanf(d->signature, "OUTCOME %31s %31s for %31s", call, seen, wanted) != 3)
		return d->answered && d->success_allowed && !d->answer.error &&
		       d->answer.result == RESULT_STAT &&
		       group_put_stat(ret, &d->value.stat, &d->answer.stat);
	succeeds = !strcmp(wanted, "success");
	if (succeeds && error_is_of_writeback(d) && strcmp(seen, "ENOSYS") &&
	    !error_is_of_lookup(d, seen))
		snprintf(ret, SIGNATURE_MAX, "%s when data is written back", seen);
	else if (error_is_lack(call, seen))
		snprintf(ret, SIGNATURE_MAX, "%s not supported", feature_of_call(call));
	else if (!strcmp(seen, "EXDEV"))
		snprintf(ret, SIGNATURE_MAX, "EXDEV within the file system");
	else if (error_is_of_all(seen) && (succeeds || !strcmp(seen, "ESTALE")))
		snprintf(ret, SIGNATURE_MAX, "%s for success", seen);
	else if (!strcmp(seen, "EIO") && !strcmp(feature_of_call(call), "xattr"))
		snprintf(ret, SIGNATURE_MAX, "EIO of calls for extended attributes");
	else if (succeeds && error_is_of_direct(d, seen))
		snprintf(ret, SIGNATURE_MAX, "O_DIRECT not supported");
	else if (succeeds && error_is_of_open(d, seen))
		snprintf(ret, SIGNATURE_MAX, "%s of reads and writes through a descriptor", seen);
	else if (!strcmp(seen, "ENAMETOOLONG"))
		snprintf(ret, SIGNATURE_MAX, "ENAMETOOLONG for names and paths of allowed length");
	else if (succeeds && error_is_of_name(d, seen))
		snprintf(ret, SIGNATURE_MAX, "%s for a name that is %s", seen,
			 strcmp(seen, "ENOENT") ? "free" : "there");
	else if (error_is_of_lookup(d, seen))
		snprintf(ret, SIGNATURE_MAX, "%s through a descriptor", seen);
	else if (outcome_is_of_removal(d))
		snprintf(ret, SIGNATURE_MAX, "removexattr of what is not there succeeds");
	else if (!succeeds && outcome_is_of_flags(d, rule))
		snprintf(ret, SIGNATURE_MAX, "flags of setxattr ignored");
	else if (!succeeds && !strcmp(rule, "name_too_long"))
		snprintf(ret, SIGNATURE_MAX, "names that are too long not refused");
	else if (!succeeds && rule_is_of_xattr_names(rule))
		snprintf(ret, SIGNATURE_MAX, "names of extended attributes not checked");
	else if (!succeeds && *rule)
		snprintf(ret, SIGNATURE_MAX, "%s for %s (%.60s)", seen, wanted, rule);
	else
		return false;
	return true;
}

/* ---- ends ---- */

/* What a daemon wrote last, without its numbers. */
static void group_add_words(char ret[SIGNATURE_MAX], const char *output)
{
	const char *end = output + strlen(output), *line;
	size_t len = strlen(ret);

	while (end > output && isspace((unsigned char)end[-1]))
		end--;
	for (line = end; line > output && line[-1] != '\n';)
		line--;
	while (line < end && len + 1 < SIGNATURE_MAX) {
		if (isdigit((unsigned char)*line)) {
			while (line < end && (isxdigit((unsigned char)*line) || *line == 'x'))
				line++;
			ret[len++] = 'N';
		} else {
			ret[len++] = *line++;
		}
	}
	ret[len] = '\0';
}

static bool group_put_end(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	const char *name = problem_table[d->code].name;

	if (*d->place) {
		snprintf(ret, SIGNATURE_MAX, "%s %.130s", name, d->place);
		return true;
	}
	if (!d->output.len)
		return false;
	snprintf(ret, SIGNATURE_MAX, "%s by %.40s: ", name, buf_str(&d->ended));
	group_add_words(ret, buf_str(&d->output));
	return true;
}

/* "TIMES rename change time of file was not updated". Of utimensat, the times that it is given are
 * one cause. The kernel sets some times of what a FUSE daemon serves by itself, until it asks the
 * daemon: one that does not keep them shows as not updated or as gone back, after any call. */
static bool group_put_times(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	static const char setting[] = "TIMES utimensat ";
	const char *call = strchr(d->signature, ' '), *what = call ? strchr(call + 1, ' ') : NULL;

	if (!what)
		return false;
	if (!strncmp(d->signature, setting, strlen(setting)) && !strstr(what, "change time"))
		snprintf(ret, SIGNATURE_MAX, "times that utimensat sets");
	else if (d->is_cached)
		snprintf(ret, SIGNATURE_MAX, "times of %s",
			 strstr(what, "time of directory") ? "directories" : "files");
	else
		snprintf(ret, SIGNATURE_MAX, "%s", what + 1);
	return true;
}

static bool group_put(char ret[SIGNATURE_MAX], const struct discrepancy *d)
{
	if (group_put_names(ret, d) || group_put_symlink(ret, d) || group_put_new_bits(ret, d) ||
	    group_put_new_owner(ret, d) || group_put_set(ret, d) || group_put_ghost(ret, d) ||
	    group_put_stale_size(ret, d) || group_put_copy(ret, d) || group_put_stale(ret, d) ||
	    group_put_subdirectories(ret, d) || group_put_hidden(ret, d))
		return true;
	switch (d->code) {
	case PROBLEM_TREE:
		return group_put_tree(ret, d->signature);
	case PROBLEM_OUTCOME:
		return group_put_outcome(ret, d);
	case PROBLEM_TIMES:
		return group_put_times(ret, d);
	case PROBLEM_HANG:
	case PROBLEM_DEATH:
	case PROBLEM_KERNEL:
		return group_put_end(ret, d);
	default:
		return false;
	}
}

void group_of(const struct discrepancy *d, char ret[SIGNATURE_MAX])
{
	if (!group_put(ret, d))
		memcpy(ret, d->signature, SIGNATURE_MAX);
}
