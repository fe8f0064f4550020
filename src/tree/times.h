/* times.h -- which times of a tree a call must, may and must not set, judged without a clock.
 *
 * What is expected of a call comes from the model: the objects whose times it sets, by their
 * places. What is known of the file system is the times of the last scan, and the latest time that
 * a call has set, for each field: one field has one source and one unit. After a call then
 *   - a time that the call does not set is the same as before;
 *   - a time that it sets is not before one that was set earlier. An update that was lost shows as
 *     such as soon as a call has set the same field of any object later; and at once where the
 * clock has surely moved since (times_let_pass());
 *   - a time that the caller gives is returned as given.
 * All of that is in units of the file system's times. */
#ifndef TREE_TIMES_H
#define TREE_TIMES_H

#include "tree/tree.h"

enum time_field { TIME_ACCESS, TIME_MODIFY, TIME_CHANGE, TIME_BIRTH, TIME_FIELDS };
enum time_bit {
	TIME_BIT_ACCESS = 1 << TIME_ACCESS,
	TIME_BIT_MODIFY = 1 << TIME_MODIFY,
	TIME_BIT_CHANGE = 1 << TIME_CHANGE,
	TIME_BIT_BIRTH = 1 << TIME_BIRTH,
	TIME_BITS_ALL = (1 << TIME_FIELDS) - 1,
};
extern const char *const time_field_names[TIME_FIELDS]; /* "access", ... */

int64_t inode_time(const struct inode_times *times, enum time_field field);
/* Rounded down to the unit, in units. */
int64_t time_in_units(int64_t ns, int64_t unit_ns);

/* An object of which a call sets times. Fields are enum time_bit. */
struct time_change {
	uint64_t place; /* hash of its names after the call */
	uint8_t must;   /* by the clock */
	uint8_t may;    /* by the clock, or left */
	uint8_t given;  /* by the caller: times_expected.given_ns */
	bool is_new;    /* made by the call */
	bool is_read;   /* the access time must be set where it is as old as one of the others */
};

enum { TIME_CHANGES_MAX = 8 };

/* What a call does to the times of all objects. */
struct times_expected {
	bool known;     /* false: they are not judged */
	bool is_cached; /* a time that the call does not set may be a later one than seen before */
	bool is_read_anew; /* from the disk: exact in units only, and inode numbers may be others */
	uint8_t may_all;   /* fields that may be set of every object: by reading it, say */
	uint8_t count;
	int64_t unit_ns;
	int64_t given_ns[2]; /* access, modification */
	struct time_change changes[TIME_CHANGES_MAX];
};

enum time_wrong { TIME_NOT_SET, TIME_CHANGED, TIME_GONE_BACK, TIME_NOT_AS_GIVEN, TIME_WRONGS };
/* "was not updated", ...: what is wrong with a time. */
extern const char *const time_wrong_names[TIME_WRONGS];

/* The first time that is not as expected. */
struct time_mismatch {
	enum time_wrong wrong;
	enum time_field field;
	uint64_t place; /* of the object, as in struct time_change */
	bool has_before;
	int64_t before_ns, after_ns;
	int64_t bound_ns; /* the latest time that was set before; or the given one */
};

struct time_stamp; /* the times of an object in the last scan */

struct times_watch {
	/* The trees are states of one tree, not scans: they share what did not change, and only
	 * what did is looked at. Then the last tree takes the place of the list of stamps. */
	bool shares;
	struct tree last;
	struct time_stamp *stamps, *spare; /* in the order of the tree's inodes */
	size_t count, cap, spare_cap;
	bool is_known;                  /* there was a scan, and since then */
	uint64_t calls;                 /* so many calls were made */
	int64_t latest_ns[TIME_FIELDS]; /* that a call has set */
	int64_t passed_ns[TIME_FIELDS]; /* the same, when the clock has last surely moved */
};

/* All zero but for `shares` is one that knows nothing. */
void times_watch_free(struct times_watch *w);
/* A call was made. */
void times_call(struct times_watch *w);
/* The objects may be others now; the clock is the same. */
void times_forget_objects(struct times_watch *w);
/* The clock, too, may be another, or have gone back. */
void times_forget(struct times_watch *w);
/* The clock has surely moved by more than a unit since the last call. */
void times_let_pass(struct times_watch *w);
/* Takes a scan as it is. */
void times_record(struct times_watch *w, const struct tree *t);
/* Compares a scan after one call with the last one, and takes it. Judges nothing where
 * more than this call was made since. False: *ret is filled. */
bool times_check(struct times_watch *w, const struct tree *t, const struct times_expected *e,
		 struct time_mismatch *ret);

#endif
