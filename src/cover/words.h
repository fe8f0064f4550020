/* words.h -- values of arguments as tracers write them: numbers, names of flags, both. */
#ifndef COVER_WORDS_H
#define COVER_WORDS_H

#include "cover/syscalls.h"

enum { WORDS_SLOTS = 512, WORDS_TEXT = 48 };

/* Names looked up before: the same few combinations come again and again. */
struct words {
	struct words_slot {
		char text[WORDS_TEXT];
		uint8_t len; /* 0: free */
		uint8_t kind;
		int64_t value;
	} slots[WORDS_SLOTS];
};

/* As in C, whatever the locale; and where it is asked for every byte, faster. */
static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* False where the text is no value: a pointer's contents, "...". */
bool words_value(struct words *w, enum kind kind, const char *text, size_t len, int64_t *ret);
/* The row of an ioctl request, by name or number; NULL where it has none. */
const struct syscall *words_request(const char *text, size_t len);

#endif
