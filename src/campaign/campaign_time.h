/* campaign_time.h -- moments of a campaign: seconds since 1970, as text always in UTC. */
#ifndef CAMPAIGN_CAMPAIGN_TIME_H
#define CAMPAIGN_CAMPAIGN_TIME_H

#include <stdint.h>

struct err;

enum { CAMPAIGN_TIME_TEXT = sizeof("YYYY-MM-DD HH:MM:SS") + 16 };

/* "2026-11-30", "2026-11-30 18:00" or "2026-11-30T18:00:00"; what is left out is zero. */
int campaign_time_parse(const char *text, int64_t *ret, struct err *err);
/* "2026-11-30 18:00:00" */
void campaign_time_print(int64_t at, char ret[CAMPAIGN_TIME_TEXT]);

#endif
