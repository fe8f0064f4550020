/* fuzz_own_map.c -- a list of fields is read or refused; what is read lies on the disk. */
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "damage/own_map.h"

enum { DISK = 4096, TEXT_MAX = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	struct own_map m;
	char *text;

	if (size > TEXT_MAX)
		return 0;
	own_map_init(&m, DISK);
	text = arena_copy(&m.arena, data, size);
	must(own_map_parse(&m, text, &err) == err.code);
	own_map_finish(&m);
	must(!m.map.beyond && m.map.count == m.count);
	for (size_t i = 0; i < m.map.count; i++) {
		const struct ondisk_instance *x = &m.map.instances[i];

		must(x->size && x->at + x->size <= DISK);
		must(x->structure->field_count == 1 &&
		     ondisk_field_size(x, x->structure->fields) == x->size);
	}
	own_map_free(&m);
	return 0;
}
