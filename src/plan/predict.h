/* predict.h -- what the model says of a call, and whether the bounds of a universe allow it. */
#ifndef PLAN_PREDICT_H
#define PLAN_PREDICT_H

#include "model/model.h"
#include "target/target.h"
#include "universe/universe.h"

/* One of the targets that follow the same plans, with the model that judges it. */
struct plan_follower {
	struct target *target;
	struct model model;
	struct plan_report end; /* of the last plan */
	size_t forbidden;       /* the first step of it with an outcome that this model forbids */
};

struct predictor {
	const struct model *model;
	/* Its bounds hold for predict(): objects, sizes, open files. NULL: predict() is not used.
	 */
	const struct universe *universe;
	/* What is there from the beginning does not count: objects, and the size of the largest. */
	size_t objects_before;
	uint64_t size_before;
	unsigned failures_max; /* that a state may have met (fail_alloc and the like) */
	/* Of these, all must make a call, and know what it does. */
	const struct plan_follower *followers;
	size_t follower_count;
};

/* A search begins in this state. */
void predictor_begin(struct predictor *p, const struct state *s);

/* What the model says of a call in *s, which moves to where that leads. False if the call is not to
 * be made: it leads beyond the bounds, takes too much of a disk that is the user's, or the platform
 * leaves it undefined; *s is then as before.
 * Bytes of the outcome are valid until the model's next call. ret_times: which times the call sets,
 * or NULL. */
bool predict(const struct predictor *p, struct state *s, const struct call *c, struct outcome *ret,
	     struct times_expected *ret_times);
/* The same, but *s stays; where it returns true, *ret_after is what the call leads to. */
bool predict_after(const struct predictor *p, const struct state *s, const struct call *c,
		   struct outcome *ret, struct times_expected *ret_times, struct state *ret_after);

#endif
