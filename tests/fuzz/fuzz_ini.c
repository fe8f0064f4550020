/* fuzz_ini.c -- the INI reader takes any text, and what it finds can be found again. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "settings/ini.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = BUF_INIT;
	struct err err = { 0 };
	struct ini ini;
	int ret;

	buf_add(&text, data, size);
	ret = ini_read_text(&ini, "fuzz", buf_str(&text), &err);
	must(ret == err.code);
	must(!ret || !ini.count);
	for (size_t i = 0; i < ini.count; i++) {
		const struct ini_row *row = &ini.rows[i];

		must(*row->key && row->line > 0);
		must(!i || row->line > row[-1].line);
		must(ini_get(&ini, row->section, row->key));
	}
	ini_free(&ini);
	buf_free(&text);
	return 0;
}
