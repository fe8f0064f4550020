/* envelope.h -- the outcomes that the model allows, as text. */
#ifndef HISTORY_ENVELOPE_H
#define HISTORY_ENVELOPE_H

#include "model/model.h"
#include "trace/script.h"

struct buf;
/* The allowed outcomes as a trace writes them: "RV_none", "{EEXIST;ENOTDIR}" or, in our own
 * dialect, "0", "EEXIST or ENOTDIR"; "-" where the platform leaves the call undefined. */
void envelope_print(const struct envelope *env, enum op op, enum dialect dialect, struct buf *out);

#endif
