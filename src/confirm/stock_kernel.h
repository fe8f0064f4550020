/* stock_kernel.h -- a kernel of a distribution: its image and its modules, installed or unpacked.
 *
 * Nothing is installed. A package that was asked for is downloaded and unpacked into the user's
 * cache, once. */
#ifndef CONFIRM_STOCK_KERNEL_H
#define CONFIRM_STOCK_KERNEL_H

#include <stddef.h>

struct buf;
struct err;

struct stock_kernel {
	char *name;    /* as the user, or its file, names it */
	char *image;   /* path of its bzImage */
	char *modules; /* path of lib/modules/VERSION; NULL: it has none */
};

struct stock_kernels {
	struct stock_kernel *list;
	size_t count;
};

/* Adds the kernel that the text names:
 *	linux-image-6.12.115+deb12-amd64    a package of Debian
 *	FILE.deb                            a package in a file; unpacked below `work`
 *	DIR                                 an unpacked package
 *	IMAGE                               a bzImage; its modules are those beside it
 *	IMAGE,DIR                           a bzImage and its lib/modules/VERSION */
int stock_kernels_add(struct stock_kernels *k, const char *text, const char *work, struct err *err);
/* Adds all that are installed, and all packages in the cache. */
int stock_kernels_add_all(struct stock_kernels *k, struct err *err);
void stock_kernels_free(struct stock_kernels *k);

#endif
