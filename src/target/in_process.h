/* in_process.h -- targets whose calls the model answers, in this process: RefFS, journalfs.
 *
 * target->own begins with a struct in_process. */
#ifndef TARGET_IN_PROCESS_H
#define TARGET_IN_PROCESS_H

#include "target/target.h"

enum { IN_PROCESS_ROOT_MODE = 0755 };

struct in_process {
	struct model model;
	struct state state;
	struct times_watch times;
	/* Makes a call on the state, and says what is free where that is asked. */
	void (*run)(struct target *t, const struct call *c, struct outcome *ret);
	/* The whole tree was looked at; NULL: that changes nothing. */
	void (*observed)(struct target *t);
};

void in_process_init(struct target *t,
		     void (*run)(struct target *t, const struct call *c, struct outcome *ret));
void in_process_free(struct target *t);
/* The state of a fresh file system; the old one is not freed. */
void in_process_begin(struct target *t);
/* In place of the state; what is known of times is that of this one. */
void in_process_restore(struct target *t, const struct state *saved);

/* For struct target_kind. */
int in_process_call(struct target *t, const struct call *c, struct outcome *ret,
		    enum target_fate *ret_fate, struct err *err);
int in_process_observe(struct target *t, struct tree *ret, enum target_fate *ret_fate,
		       struct err *err);
int in_process_follow(struct target *t, const struct plan_step *steps, size_t count,
		      struct plan_report *ret, struct err *err);

#endif
