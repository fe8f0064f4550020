/* kernel_script.h -- the scripts that build kernels, where they lie and how they are run. */
#ifndef CLI_KERNEL_SCRIPT_H
#define CLI_KERNEL_SCRIPT_H

struct buf;
struct err;

/* The path of this program, which is what the scripts are looked for from. */
int kernel_script_self(struct buf *ret, struct err *err);
/* Runs kernel/NAME with these arguments, the first of which becomes its own place. What it and its
 * compilers leave in TMPDIR goes with them, however they end. Returns EXIT_UNKNOWN where it could
 * not be run, and else its exit status in *ret_status and EXIT_CLEAN. */
int kernel_script_run(const char *name, const char *arguments[], const char *cache, int *ret_status,
		      struct err *err);

#endif
