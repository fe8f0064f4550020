/* log.h -- the one progress line of a terminal. Library code never prints; cmd does. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

/* Rewrites the progress line on stderr; nothing where stderr is no terminal. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Removes it, so that ordinary output can follow. */
void progress_end(void);
bool progress_wanted(void);
/* No progress line from now on. */
void progress_silence(void);
/* ", 12 s left" of `limit` seconds, as far as there is a limit; valid until the next call. */
const char *progress_left(double seconds, double limit);

#endif
