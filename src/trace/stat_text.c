/* stat_text.c -- the names of the fields of stat and statfs, for readers and writers. */
#include <sys/stat.h>

#include "trace/dialect.h"

#define FIELD(name, published) \
	{ \
#name, published, offsetof(struct stat_result, name) \
	}
/* Unknown ones are left out of traces; the published dialect knows only some of them. */
const struct stat_field stat_fields[] = {
	FIELD(nlink, "st_nlink"), FIELD(uid, "st_uid"), FIELD(gid, "st_gid"),
	FIELD(size, "st_size"),   FIELD(ino, "st_ino"), FIELD(dev, "st_dev"),
	FIELD(rdev, "st_rdev"),   FIELD(blocks, NULL),  FIELD(atime, NULL),
	FIELD(mtime, NULL),       FIELD(ctime, NULL),   FIELD(btime, NULL),
	{ NULL, NULL, 0 },
};
#undef FIELD

#define FIELD(name) \
	{ \
#name, #name, offsetof(struct statfs_result, name) \
	}
const struct stat_field statfs_fields[] = {
	FIELD(bsize), FIELD(blocks), FIELD(bfree),   FIELD(bavail),
	FIELD(files), FIELD(ffree),  FIELD(namelen), { NULL, NULL, 0 },
};
#undef FIELD

const struct file_type file_types[] = {
	{ "file", S_IFREG },  { "dir", S_IFDIR },  { "link", S_IFLNK },    { "char", S_IFCHR },
	{ "block", S_IFBLK }, { "fifo", S_IFIFO }, { "socket", S_IFSOCK }, { NULL, 0 },
};

const struct stat_result stat_unknown = {
	.nlink = STAT_UNKNOWN,
	.uid = STAT_UNKNOWN,
	.gid = STAT_UNKNOWN,
	.size = STAT_UNKNOWN,
	.ino = STAT_UNKNOWN,
	.dev = STAT_UNKNOWN,
	.rdev = STAT_UNKNOWN,
	.atime = STAT_UNKNOWN,
	.mtime = STAT_UNKNOWN,
	.ctime = STAT_UNKNOWN,
	.btime = STAT_UNKNOWN,
	.blocks = STAT_UNKNOWN,
};

const struct statfs_result statfs_unknown = {
	.bsize = STAT_UNKNOWN,
	.blocks = STAT_UNKNOWN,
	.bfree = STAT_UNKNOWN,
	.bavail = STAT_UNKNOWN,
	.files = STAT_UNKNOWN,
	.ffree = STAT_UNKNOWN,
	.namelen = STAT_UNKNOWN,
};

int stat_field_lex(struct lexer *l, const struct stat_field *fields, enum dialect dialect,
		   void *record)
{
	bool native = dialect == DIALECT_NATIVE;
	const char *word, *name = NULL;
	size_t len = lex_peek_word(l, &word);
	int64_t value;
	int err;

	for (; len && fields->name; fields++) {
		name = native ? fields->name : fields->published;
		if (name && word_is(word, len, name))
			break;
	}
	if (!len || !fields->name)
		return lex_expected(l, "a field");
	l->next += len;
	err = lex_char(l, '=');
	if (!err)
		err = lex_num(l, native ? RADIX_C : RADIX_OCAML, &value);
	if (!err)
		field_set(record, fields, value);
	return err;
}
