/* fuzz_family.c -- families are read or refused; what is read fills its patterns. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "suite/family.h"

enum { FILLED_MAX = 16, COMBINATIONS_TRIED_MAX = 1 << 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t combinations_of(const struct family *family)
{
	uint64_t count = 1;

	for (unsigned i = 0; i < family->property_count && count <= COMBINATIONS_TRIED_MAX; i++)
		count *= family->properties[i]->count;
	return count;
}

static void fill(const struct families *f, const struct family *family)
{
	struct combination *all;
	struct buf text = BUF_INIT;
	size_t count;

	if (combinations_of(family) > COMBINATIONS_TRIED_MAX)
		return;
	all = family_combine(family, &count);
	for (size_t i = 0; i < count && i < FILLED_MAX; i++) {
		struct err err = { 0 };

		buf_clear(&text);
		must(family_fill(f, family, &all[i], family->script, &text, &err) == err.code);
		family_script_name(family, &all[i], &text);
	}
	free(all);
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct families families = { .arena = ARENA_INIT };
	struct buf text = BUF_INIT;
	struct err err = { 0 };

	buf_add(&text, data, size);
	must(families_read(&families, "fuzz", buf_str(&text), &err) == err.code);
	for (size_t i = 0; i < families.count && !err.code; i++)
		fill(&families, families.items[i]);
	families_free(&families);
	buf_free(&text);
	return 0;
}
