/* journal_faults.c -- the table of faults. */
#include "journalfs/journal_faults.h"

#include <string.h>

#include "base/must.h"

const struct journal_fault_info journal_fault_table[] = {
	[JOURNAL_FAULT_NONE] = { "", "", "" },
#define JOURNAL_FAULT(name, text, script) [JOURNAL_FAULT_##name] = { #name, text, script },
#include "journalfs/faults.def"
#undef JOURNAL_FAULT
};
const size_t journal_fault_count = ARRAY_LEN(journal_fault_table);

enum journal_fault journal_fault_find(const char *name)
{
	for (size_t i = JOURNAL_FAULT_NONE + 1; i < journal_fault_count; i++)
		if (!strcmp(journal_fault_table[i].name, name))
			return (enum journal_fault)i;
	return JOURNAL_FAULT_NONE;
}
