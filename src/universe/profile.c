/* profile.c -- the universe profiles shipped with the program: profiles/NAME.ini. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"
#include "universe/universe.h"

#define EMBEDDED(name, text) name,
const char *const universe_profiles[] = {
#include "gen/embedded_profiles.h"
	NULL,
};
#undef EMBEDDED

#define EMBEDDED(name, text) text,
static const char *const texts[] = {
#include "gen/embedded_profiles.h"
};
#undef EMBEDDED

const char *universe_profile_text(const char *name)
{
	for (size_t i = 0; universe_profiles[i]; i++)
		if (!strcmp(universe_profiles[i], name))
			return texts[i];
	return NULL;
}

int universe_profile_unknown(const char *name, struct err *err)
{
	struct nearest n = NEAREST_TO(name);

	for (size_t i = 0; universe_profiles[i]; i++)
		nearest_offer(&n, universe_profiles[i]);
	err_set(err, ENOENT, "%s: no such profile; `assay profile` lists them", name);
	err_suggest(err, &n);
	return -ENOENT;
}
