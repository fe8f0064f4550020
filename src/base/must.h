/* must.h -- our own bugs: checked always, never recovered from.
 *
 * A failed must() prints the condition, the place and what must_note() last said (seed and
 * position of the run), then aborts. Never used for input, the system or the target. */
#ifndef BASE_MUST_H
#define BASE_MUST_H

#define must(condition) ((condition) ? (void)0 : must_failed(#condition, __FILE__, __LINE__))

_Noreturn void must_failed(const char *condition, const char *file, int line);
/* The position of the run, which a failed must() prints; copied. */
void must_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Allocation that cannot fail: out of memory ends the program with one clear line. */
void *must_alloc(unsigned long size); /* zeroed */
/* The same for much of which little is used: what is never touched costs nothing. */
void *must_map(unsigned long size);
void must_unmap(void *memory, unsigned long size); /* NULL: nothing */
void *must_realloc(void *old, unsigned long size);
char *must_strdup(const char *text);

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
