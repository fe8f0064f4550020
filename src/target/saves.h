/* saves.h -- saved images by key. */
#ifndef TARGET_SAVES_H
#define TARGET_SAVES_H

#include "target/image.h"
#include "tree/pmap.h"

struct saves {
	struct pmap map;
};

/* Takes the snapshot over. */
void saves_put(struct saves *s, uint64_t key, struct snapshot *snapshot);
const struct snapshot *saves_get(const struct saves *s, uint64_t key); /* NULL if there is none */
void saves_drop(struct saves *s, uint64_t key);
void saves_free(struct saves *s);

#endif
