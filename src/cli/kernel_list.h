/* kernel_list.h -- which kernels were built, and what each is called. */
#ifndef CLI_KERNEL_LIST_H
#define CLI_KERNEL_LIST_H

#include <stdbool.h>

/* Prints all below the cache, as a table or as an array of objects. */
void kernel_list_print(const char *cache, bool json);

#endif
