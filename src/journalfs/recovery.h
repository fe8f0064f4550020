/* recovery.h -- what is done with the journal of a disk before it is mounted. */
#ifndef JOURNALFS_RECOVERY_H
#define JOURNALFS_RECOVERY_H

#include "journalfs/journal_disk.h"

/* Finds the journal of j->disk and replays what is whole in it. 0, or the errno of mounting. */
int journal_recover(struct journal *j);

#endif
