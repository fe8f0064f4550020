/* kernels.c -- where the kernels lie that run in a process. */
#include "target/kernels.h"

#include <stdlib.h>

#include "base/buf.h"
#include "gen/kernel_hash.h"

const char kernels_fitting[] = ASSAY_KERNEL_HASH;

void kernels_directory(struct buf *ret)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		buf_addf(ret, "%s/assay/kernel", cache);
	else if (home && *home == '/')
		buf_addf(ret, "%s/.cache/assay/kernel", home);
}

void kernels_path(const char *name, struct buf *ret)
{
	kernels_directory(ret);
	buf_addf(ret, "/%s/%s/linux", kernels_fitting, name ? name : "usual");
}
