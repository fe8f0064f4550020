/* profile.c -- the universe profiles shipped with the program: profiles/NAME.ini. */
#include <stddef.h>
#include <string.h>

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
