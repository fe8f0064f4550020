/* lexer.h -- the tokens of the trace language, for both dialects.
 *
 * The text is the arena's, ends in NUL and holds no other. Strings are decoded where they lie
 * and closed by a NUL in place of the quote, so that no token costs an allocation. */
#ifndef BASE_LEXER_H
#define BASE_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct lexer {
	const char *name; /* of the source, for messages */
	char *next;
	char *line_start;
	uint32_t line; /* from 1 */
	struct err *err;
};

/* How a number with a leading zero is meant: as C does (octal), or as OCaml does (decimal,
 * with 0o for octal). */
enum radix { RADIX_C, RADIX_OCAML };

void lex_init(struct lexer *l, const char *name, char *text, struct err *err);
/* "name:line:column: expected WHAT, found ..."; -EINVAL. */
int lex_expected(struct lexer *l, const char *what);

static inline void lex_blanks(struct lexer *l)
{
	while (*l->next == ' ' || *l->next == '\t' || *l->next == '\r')
		l->next++;
}

/* The next character, blanks skipped; '\n' or NUL at the end of the line. */
static inline char lex_peek(struct lexer *l)
{
	lex_blanks(l);
	return *l->next;
}

static inline bool lex_take(struct lexer *l, char c)
{
	if (lex_peek(l) != c)
		return false;
	l->next++;
	return true;
}

/* The character, which must come. */
int lex_char(struct lexer *l, char c);
static inline bool lex_at_end(struct lexer *l)
{
	char c = lex_peek(l);

	return c == '\n' || !c;
}
/* The end of the line, which must come. */
int lex_end(struct lexer *l);

/* Letters, digits and '_', beginning with no digit; 0 where there are none. The word is left
 * alone by peeking. */
size_t lex_peek_word(struct lexer *l, const char **ret);
static inline bool word_is(const char *word, size_t len, const char *text)
{
	return !__builtin_strncmp(word, text, len) && !text[len];
}
/* Takes the word if it is next. */
bool lex_take_word(struct lexer *l, const char *word);

bool lex_at_num(struct lexer *l);
/* 64 bits; hexadecimal and octal ones may use all of them. */
int lex_num(struct lexer *l, enum radix radix, int64_t *ret);
int lex_num_in(struct lexer *l, enum radix radix, int64_t min, int64_t max, int64_t *ret);

/* A string in quotes with OCaml's escapes. */
int lex_string(struct lexer *l, char **ret, uint32_t *ret_len);
/* The rest of the line without blanks around it, closed by NUL; takes the line's end too. */
char *lex_rest(struct lexer *l);

#endif
