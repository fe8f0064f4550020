/* confirm.h -- a reproducer on stock kernels: which of them show the finding? */
#ifndef CONFIRM_CONFIRM_H
#define CONFIRM_CONFIRM_H

#include "confirm/guest.h"
#include "confirm/verdict.h"

struct stock_kernel;

struct confirmation {
	struct confirm_verdict verdict;
	double seconds;
};

/* Boots the kernel with the guest, whose files are in the directory. */
int confirm_on(const struct guest *g, const struct stock_kernel *kernel, enum problem problem,
	       const char *dir, double seconds, struct confirmation *ret, struct err *err);

#endif
