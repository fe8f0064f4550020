/* journal_faults.h -- a journalfs that is broken on purpose, one way at a time. */
#ifndef JOURNALFS_JOURNAL_FAULTS_H
#define JOURNALFS_JOURNAL_FAULTS_H

#include <stddef.h>

enum journal_fault {
	JOURNAL_FAULT_NONE,
#define JOURNAL_FAULT(name, text, script) JOURNAL_FAULT_##name,
#include "journalfs/faults.def"
#undef JOURNAL_FAULT
};

struct journal_fault_info {
	const char *name, *text;
	const char *script; /* calls on a fresh file system, after which crashes show it */
};

/* By number, JOURNAL_FAULT_NONE without a name. */
extern const struct journal_fault_info journal_fault_table[];
extern const size_t journal_fault_count;

/* JOURNAL_FAULT_NONE if there is none of that name. */
enum journal_fault journal_fault_find(const char *name);

#endif
