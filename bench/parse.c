/* parse.c -- how many lines of scripts and traces are read and printed in a second. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "trace/script.h"
#include "universe/universe.h"

enum { LINES = 200000, REPEATS = 5 };

/* Calls as an exploration makes them, with outcomes. */
static void make_long_trace(struct buf *text)
{
	static const int errors[] = { 2, 17, 20, 21, 22, 39 };
	struct outcome outcome;
	struct err err = { 0 };
	struct universe u;
	struct rng rng;
	struct call c;

	must(!universe_open(&u, "default", NULL, 0, &err));
	rng_seed(&rng, 1);
	for (int i = 0; i < LINES; i++) {
		universe_call(&u, universe_draw(&u, &rng), &c);
		outcome = (struct outcome){ .result = RESULT_NUM };
		if (rng_chance(&rng, 1, 2))
			outcome.error = errors[rng_below(&rng, 6)];
		call_print(&c, DIALECT_NATIVE, text);
		buf_adds(text, " = ");
		outcome_print(&outcome, c.op, DIALECT_NATIVE, text);
		buf_addch(text, '\n');
	}
	universe_free(&u);
}

static size_t script_line_count(const struct buf *text)
{
	size_t lines = 0;

	for (const char *p = text->data; (p = strchr(p, '\n')); p++)
		lines++;
	return lines;
}

static void measure_dialect(const char *name, const struct buf *text, enum dialect dialect)
{
	double start, read_seconds = 1e9, print_seconds = 1e9, seconds;
	size_t lines = script_line_count(text);
	struct buf out = BUF_INIT;
	struct script s = { 0 };
	struct err err = { 0 };

	for (int i = 0; i < REPEATS; i++) {
		start = cpu_seconds();
		must(!script_parse(&s, name, text->data, text->len, &err));
		seconds = cpu_seconds() - start;
		read_seconds = seconds < read_seconds ? seconds : read_seconds;
		buf_clear(&out);
		start = cpu_seconds();
		script_print(&s, dialect, &out);
		seconds = cpu_seconds() - start;
		print_seconds = seconds < print_seconds ? seconds : print_seconds;
	}
	printf("parse_%s %.0f lines/s\n", name, (double)lines / read_seconds);
	printf("print_%s %.0f lines/s\n", name, (double)lines / print_seconds);
	script_free(&s);
	buf_free(&out);
}

int main(void)
{
	struct buf native = BUF_INIT, published = BUF_INIT;
	struct script s = { 0 };
	struct err err = { 0 };

	make_long_trace(&native);
	measure_dialect("native", &native, DIALECT_NATIVE);
	must(!script_parse(&s, "native", native.data, native.len, &err));
	script_print(&s, DIALECT_PUBLISHED, &published);
	measure_dialect("published", &published, DIALECT_PUBLISHED);
	script_free(&s);
	buf_free(&native);
	buf_free(&published);
	return 0;
}
