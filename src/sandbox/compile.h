/* compile.h -- a C program of ours, compiled by whatever compiler there is. */
#ifndef SANDBOX_COMPILE_H
#define SANDBOX_COMPILE_H

struct buf;
struct err;
struct program_report;

/* Compiles and links a C text with these flags (words for the shell): the program is added to
 * ret_program, 0 is returned, and ret->fate is PROGRAM_EXITED. Where that cannot be done, ret->fate
 * says why (PROGRAM_NOT_COMPILED with the compiler's output, PROGRAM_NO_COMPILER) and nothing is
 * added. No file is made but the compiler's own, which it removes. */
int compile_program(const char *source, const char *flags, struct buf *ret_program,
		    struct program_report *ret, struct err *err);

#endif
