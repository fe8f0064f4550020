/* folder.h -- inside the folder of a finding: names of its files, headers of its trace. */
#ifndef FINDING_FOLDER_H
#define FINDING_FOLDER_H

#include "base/buf.h"

#define FOLDER_TRACE "trace"
/* All calls since the file system was fresh, where the trace has only the last of them. */
#define FOLDER_HISTORY "history"

/* Comments of a trace: "# target: ext4". */
#define HEADER_TARGET "target"
#define HEADER_SIGNATURE "signature"
#define HEADER_LEFT_OUT "calls left out" /* before the first one of the trace */

/* One line, whatever the value holds. */
void folder_add_header(struct buf *out, const char *key, const char *value);

#endif
