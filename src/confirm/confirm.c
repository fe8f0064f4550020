/* confirm.c -- a reproducer on stock kernels: which of them show the finding? */
#include "confirm/confirm.h"

#include "confirm/boot.h"
#include "confirm/stock_kernel.h"

int confirm_on(const struct guest *g, const struct stock_kernel *kernel, enum problem problem,
	       const char *dir, double seconds, struct confirmation *ret, struct err *err)
{
	struct boot_report boot;
	int r = guest_write_archive(g, kernel, dir, err);

	if (!r)
		r = guest_write_disk(g, dir, err);
	if (!r)
		r = boot_guest(kernel->image, dir, g->has_disk, seconds, &boot, err);
	if (r)
		return r;
	verdict_read(&boot, problem, &ret->verdict);
	ret->seconds = boot.seconds;
	boot_report_free(&boot);
	return 0;
}
