/* folder.h -- inside the folder of a finding: names of its files, headers of its trace. */
#ifndef FINDING_FOLDER_H
#define FINDING_FOLDER_H

#include "base/buf.h"

struct discrepancy;
struct err;
struct finding;
struct item_return;
struct target;

#define FOLDER_TRACE "trace"
/* All calls since the file system was fresh, where the trace has only the last of them. */
#define FOLDER_HISTORY "history"
/* What the checker of the file system says. */
#define FOLDER_FSCK "fsck.txt"
/* What was expected and what was seen, for programs. */
#define FOLDER_JSON "finding.json"

/* Comments of a trace: "# target: ext4". */
#define HEADER_TARGET "target"
#define HEADER_SIGNATURE "signature"
#define HEADER_SEEN_ON "seen on"         /* kernels: "Linux 6.1.0; Linux 6.12.5" */
#define HEADER_UPSTREAM "upstream"       /* what is known of it there; people write it */
#define HEADER_OBSERVED "observed"       /* how, where not after every call */
#define HEADER_TESTS "tests"             /* of a script: what it is a test of */
#define HEADER_LEFT_OUT "calls left out" /* before the first one of the trace */

#define OBSERVED_LAST "after the last call only"

/* The kernels that have shown a finding, that of the target included (which may be NULL). */
void folder_add_kernels(struct buf *out, const struct finding *f, const struct target *t);
/* Records that this kernel has shown the finding: in its trace (or in a trace alone), and in its
 * README, where there is one. */
int folder_record_kernel(const char *path, const char *kernel, struct err *err);
/* One line, whatever the value holds. */
void folder_add_header(struct buf *out, const char *key, const char *value);
/* What says so, where no rule of the model does. */
void readme_add_source(const struct discrepancy *d, struct buf *out);
/* What a trace has behind a call is what is allowed. */
void folder_take_allowed(struct discrepancy *d, const struct item_return *allowed);
/* dir/finding.json. Reading it completes a finding whose trace was read. */
int folder_write_json(const struct finding *f, const char *dir, struct err *err);
int folder_read_json(struct finding *f, const char *dir, struct err *err);

#endif
