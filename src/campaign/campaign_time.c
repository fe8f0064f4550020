/* campaign_time.c -- moments of a campaign as text. */
#include "campaign/campaign_time.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "base/must.h"

int campaign_time_parse(const char *text, int64_t *ret, struct err *err)
{
	static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
					     "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S" };

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, forms[i], &tm);

		if (end && !*end) {
			*ret = timegm(&tm);
			return 0;
		}
	}
	return err_set(err, EINVAL, "%s: expected a date, \"YYYY-MM-DD\" or \"YYYY-MM-DD HH:MM\"",
		       text);
}

void campaign_time_print(int64_t at, char ret[CAMPAIGN_TIME_TEXT])
{
	time_t seconds = (time_t)at;
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) ||
	    !strftime(ret, CAMPAIGN_TIME_TEXT, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(ret, CAMPAIGN_TIME_TEXT, "?");
}
