/* op.h -- operations, calls and outcomes.
 *
 * A call is one use of a row of ops.def. Its arguments can be reached by position
 * (call->arg[1]) and by name (call->openat.path); both are the same memory. */
#ifndef OP_OP_H
#define OP_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OP_ARGS_MAX = 6 };
/* The longest time that advance_time lets pass: a day; and that wait waits. */
enum { ADVANCE_MAX_MS = 24 * 60 * 60 * 1000, WAIT_MAX_MS = 5000 };

struct arena;

enum kind {
#define KIND(NAME, name) KIND_##NAME,
#include "op/kinds.def"
#undef KIND
	KIND_COUNT_
};

enum arg_form { FORM_NUM, FORM_TEXT, FORM_DATA };

/* One argument. Text and data are NUL-terminated behind len; the maker of the call owns them
 * (an arena, as a rule). */
struct arg {
	union {
		int64_t num;
		const char *text; /* NULL is the null pointer */
		uint64_t seed;    /* of the generator, where generated */
	};
	uint32_t len;
	bool generated; /* data: len bytes from data_fill(seed) */
	uint8_t nearby; /* in a universe: the value follows from the state, by this place */
};

/* Open flags are Linux's numbers; what has no number there lies above them. The access mode
 * O_RDONLY is 0 in Linux: OPEN_RDONLY says that it was named, so that printing gives it back and
 * a call that names no access mode differs from one that does. */
#define OPEN_EXEC ((int64_t)1 << 40)
#define OPEN_SEARCH ((int64_t)1 << 41)
#define OPEN_RSYNC ((int64_t)1 << 42)
#define OPEN_TTY_INIT ((int64_t)1 << 43)
#define OPEN_RDONLY ((int64_t)1 << 44)
/* An optional mode that was not given. */
#define MODE_ABSENT ((int64_t)-1)
/* Positions of a directory stream that are kept. */
enum { POSITION_MAX = 256 };
/* Times that are no point in time: UTIME_NOW and UTIME_OMIT of utimensat. */
#define TIME_NOW INT64_MAX
#define TIME_OMIT (INT64_MAX - 1)

enum op {
#define A(name, kind)
#define OP(name, base, result, traits, args) OP_##name,
#include "op/ops.def"
#undef OP
#undef A
	OP_COUNT
};

struct call {
	uint16_t op;   /* enum op */
	uint16_t pid;  /* from 1 */
	uint32_t line; /* of the script it was read from, else 0 */
	union {
		struct arg arg[OP_ARGS_MAX];
#define A(name, kind) struct arg name;
#define OP(name, base, result, traits, args) \
	struct { \
		args \
	} name;
#include "op/ops.def"
#undef OP
#undef A
	};
};

enum result {
	RESULT_NONE,   /* nothing but success */
	RESULT_NUM,    /* num */
	RESULT_FD,     /* num: a descriptor, the smallest free one */
	RESULT_BYTES,  /* bytes, len */
	RESULT_STAT,   /* stat */
	RESULT_NAME,   /* bytes: one name; none at the end of a directory */
	RESULT_PERM,   /* num: a file mode */
	RESULT_STATFS, /* statfs */
	RESULT_NAMES,  /* bytes: names, each followed by NUL, sorted */
	RESULT_TARGET, /* bytes: contents of a symbolic link */
};

enum op_trait {
	TRAIT_NAMES = 1 << 0,
	TRAIT_DATA = 1 << 1,
	TRAIT_ATTR = 1 << 2,
	TRAIT_ALLOC = 1 << 3,
	TRAIT_SYNC = 1 << 4,
	TRAIT_OPENS = 1 << 5,
	TRAIT_ENV = 1 << 6,
	TRAIT_PROC = 1 << 7,
	TRAIT_META = 1 << 8,
};

struct op_arg {
	const char *name;
	enum kind kind;
};

struct op_info {
	const char *name;
	enum op base; /* OP_ of the base call */
	enum result result;
	unsigned traits;
	unsigned args;
	struct op_arg arg[OP_ARGS_MAX];
};

extern const struct op_info op_table[OP_COUNT];

/* The operation of that name, or -1. */
int op_find(const char *name);
int op_find_len(const char *name, size_t len);
/* May the last argument be left out? So may the mode behind open flags. */
bool op_last_optional(enum op op);

/* The result of stat. Fields that a source cannot know are STAT_UNKNOWN. */
#define STAT_UNKNOWN INT64_MIN
/* In a mode: only the type is known. */
#define STAT_TYPE_ONLY UINT32_C(0x80000000)

struct stat_result {
	uint32_t mode; /* type and permission bits */
	int64_t nlink, uid, gid, size;
	int64_t ino, dev, rdev;
	int64_t atime, mtime, ctime, btime; /* nanoseconds */
	int64_t blocks;                     /* of 512 bytes */
};

struct statfs_result {
	int64_t bsize, blocks, bfree, bavail, files, ffree, namelen;
};

/* Signals that loads and stores end with: numbers among the errnos, above those of Linux. */
enum { ERROR_SIGBUS = 190, ERROR_SIGSEGV = 191 };

/* What came back. The maker of the outcome owns the bytes. */
struct outcome {
	int error;          /* 0, an errno, or one of the above */
	enum result result; /* which of the following success filled */
	bool end;           /* RESULT_NAME: the end of the directory; bytes are empty */
	int64_t num;
	const char *bytes;
	size_t len;
	union {
		struct stat_result stat;
		struct statfs_result statfs;
	};
};

/* Fills len bytes at position `from` of the endless sequence that seed names. Data revealing
 * misplaced bytes: each byte depends on seed and position. */
void data_fill(uint64_t seed, uint64_t from, void *to, size_t len);
/* The first count bytes of a data argument, from a position on; behind its end there are zeros. */
void data_bytes(const struct arg *data, uint64_t from, void *to, size_t count);

/* "ENOENT", or "E12345" for one without a name; and back (-1 for none). */
const char *errno_name(int error);
int errno_find(const char *name, size_t len);

bool call_equal(const struct call *a, const struct call *b);
/* Do the outcomes say the same? Unknown stat fields, device and inode numbers do not count. */
bool outcome_equal(const struct outcome *a, const struct outcome *b);
/* The sum of its numbers of bytes: counts, lengths, offsets. */
uint64_t call_extent(const struct call *c);
/* A copy whose text and data live in the arena. */
struct call call_copy(const struct call *c, struct arena *arena);
struct outcome outcome_copy(const struct outcome *o, struct arena *arena);

#endif
