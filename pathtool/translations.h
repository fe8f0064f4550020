/* translations.h -- code that runs translated is translated by the server as well, for the runs to
 * come, and linked in the same way. */
#ifndef PATHTOOL_TRANSLATIONS_H
#define PATHTOOL_TRANSLATIONS_H

#include "pathtool/tool.h"

/* Notes that a run translates this code. */
void translations_note(Addr at);
/* Does in the server what the run did that ended. */
void translations_repeat(ThreadId tid);

#endif
