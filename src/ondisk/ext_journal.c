/* ext_journal.c -- the journal of ext3 and ext4, jbd2: its superblock and what is to be replayed.
 *
 * A clean journal has its superblock only: what else is in it is never read. What is to be replayed
 * can belong to any file, so its label has the path of the root directory. The whole-transaction
 * checksum in commit blocks (JBD2_FEATURE_COMPAT_CHECKSUM) is not sealed, and fast commits are not
 * described. */
#include <errno.h>

#include "ondisk/ext.h"

enum {
	HEADER_LEN = 12,
	REVOKE_HEADER_LEN = 16,
	COMMIT_LEN = 60,
	SUPER_LEN = 1024,
	TAIL_LEN = 4,
	TAG3_LEN = 16,
	UUID_LEN = 16,
	FAST_COMMIT_BLOCKS = 256, /* where the superblock does not say */
};

enum { BLOCK_DESCRIPTOR = 1, BLOCK_COMMIT = 2, BLOCK_REVOKE = 5 };
enum { TAG_SAME_UUID = 2, TAG_LAST = 8 };

struct ext_journal {
	const struct ext_file *f;
	const uint8_t *super;
	uint64_t super_at;
	uint32_t features, first, end; /* blocks of the log: [first, end) */
	uint32_t next, sequence;       /* the block to be read, the transaction it should be of */
	uint32_t left;                 /* blocks not yet read */
	uint32_t tag_len, tail_len;
};

/* A checksum of the journal depends on the UUID and the features in its superblock, too. */
static void ext_journal_cover(struct ext_walk *w, const struct ext_journal *j,
			      struct ondisk_cover cover)
{
	ext_cover(w, cover);
	cover.at = j->super_at + journal_superblock_s_feature_compat_AT;
	cover.len = journal_superblock_s_nr_users_AT - journal_superblock_s_feature_compat_AT;
	ext_cover(w, cover);
}

/* Takes the next block of the log: where it is, or 0. */
static uint64_t ext_journal_next(struct ext_walk *w, struct ext_journal *j)
{
	uint64_t block = j->left ? ext_file_block(j->f, j->next) : 0;

	if (!block || !ext_block(w, block)) {
		ext_damaged(w, "the journal has no end");
		return 0;
	}
	j->left--;
	if (++j->next >= j->end)
		j->next = j->first;
	return block * w->block_size;
}

static void ext_journal_tail(struct ext_walk *w, const struct ext_journal *j, uint64_t at)
{
	if (!j->tail_len)
		return;
	ext_add(w, journal_block_tail, at + w->block_size - TAIL_LEN, TAIL_LEN, "transaction %u, /",
		j->sequence);
	ext_journal_cover(w, j,
			  (struct ondisk_cover){ .at = at,
						 .len = w->block_size,
						 .kind = EXT_SUM_JOURNAL_BLOCK,
						 .of = at,
						 .with = j->super_at });
}

/* A tag, and the block of the log that it is of. */
static int ext_journal_tag(struct ext_walk *w, struct ext_journal *j, uint64_t tag)
{
	bool v3 = j->features & EXT_JOURNAL_INCOMPAT_CSUM_V3;
	uint32_t wide = j->features & EXT_JOURNAL_INCOMPAT_64BIT ? 4 : 0;
	unsigned block = ONDISK_BE(w->disk + tag, journal_block_tag, t_blocknr);
	uint64_t data = ext_journal_next(w, j);

	if (!data)
		return -EUCLEAN;
	if (v3)
		ext_add(w, journal_block_tag3, tag, TAG3_LEN, "transaction %u, block %u, /",
			j->sequence, block);
	else
		ext_add(w, journal_block_tag, tag, 8 + wide, "transaction %u, block %u, /",
			j->sequence, block);
	ext_add(w, journal_data, data, w->block_size, "transaction %u, block %u, /", j->sequence,
		block);
	if (j->tail_len)
		ext_journal_cover(w, j,
				  (struct ondisk_cover){ .at = data,
							 .len = w->block_size,
							 .kind = EXT_SUM_JOURNAL_TAG,
							 .of = data,
							 .with = tag,
							 .number = j->super_at });
	return 0;
}

static int ext_journal_descriptor(struct ext_walk *w, struct ext_journal *j, uint64_t at)
{
	bool v3 = j->features & EXT_JOURNAL_INCOMPAT_CSUM_V3;
	uint32_t end = w->block_size - j->tail_len, flags = 0;

	ext_add(w, journal_header, at, HEADER_LEN, "transaction %u, descriptor, /", j->sequence);
	for (uint32_t i = HEADER_LEN; i + j->tag_len <= end && !(flags & TAG_LAST);
	     i += j->tag_len) {
		int status = ext_journal_tag(w, j, at + i);

		if (status)
			return status;
		flags = v3 ? ONDISK_BE(w->disk + at + i, journal_block_tag3, t_flags)
			   : ONDISK_BE(w->disk + at + i, journal_block_tag, t_flags);
		if (flags & TAG_SAME_UUID)
			continue;
		if (i + j->tag_len + UUID_LEN > end)
			return ext_damaged(w, "a descriptor block of the journal cannot be");
		ext_add(w, journal_tag_uuid, at + i + j->tag_len, UUID_LEN, "transaction %u, /",
			j->sequence);
		i += UUID_LEN;
	}
	ext_journal_tail(w, j, at);
	return 0;
}

static int ext_journal_revokes(struct ext_walk *w, struct ext_journal *j, uint64_t at)
{
	uint32_t wide = j->features & EXT_JOURNAL_INCOMPAT_64BIT ? 8 : 4;
	uint32_t end = ONDISK_BE(w->disk + at, journal_revoke_header, r_count);

	if (end > w->block_size - j->tail_len)
		return ext_damaged(w, "a revoke block of the journal cannot be");
	ext_add(w, journal_revoke_header, at, REVOKE_HEADER_LEN, "transaction %u, /", j->sequence);
	for (uint32_t i = REVOKE_HEADER_LEN; i + wide <= end; i += wide) {
		if (wide == 8)
			ext_add(w, journal_revoke64, at + i, wide, "transaction %u, /",
				j->sequence);
		else
			ext_add(w, journal_revoke, at + i, wide, "transaction %u, /", j->sequence);
	}
	ext_journal_tail(w, j, at);
	return 0;
}

static void ext_journal_commit(struct ext_walk *w, struct ext_journal *j, uint64_t at)
{
	ext_add(w, commit_header, at, COMMIT_LEN, "transaction %u, /", j->sequence);
	if (j->tail_len)
		ext_journal_cover(w, j,
				  (struct ondisk_cover){ .at = at,
							 .len = w->block_size,
							 .kind = EXT_SUM_JOURNAL_COMMIT,
							 .of = at,
							 .with = j->super_at });
	j->sequence++;
}

/* Transactions, up to the first block that is of none. */
static int ext_journal_log(struct ext_walk *w, struct ext_journal *j)
{
	int status = 0;

	while (j->left && !status) {
		uint64_t at = ext_journal_next(w, j);
		const uint8_t *p = w->disk + at;

		if (!at)
			return -EUCLEAN;
		if (ONDISK_BE(p, journal_header, h_magic) != (uint32_t)EXT_JOURNAL_MAGIC ||
		    ONDISK_BE(p, journal_header, h_sequence) != j->sequence)
			return 0;
		switch (ONDISK_BE(p, journal_header, h_blocktype)) {
		case BLOCK_DESCRIPTOR:
			status = ext_journal_descriptor(w, j, at);
			break;
		case BLOCK_REVOKE:
			status = ext_journal_revokes(w, j, at);
			break;
		case BLOCK_COMMIT:
			ext_journal_commit(w, j, at);
			break;
		default:
			return 0;
		}
	}
	return status;
}

static uint32_t ext_journal_tag_len(uint32_t features)
{
	if (features & EXT_JOURNAL_INCOMPAT_CSUM_V3)
		return TAG3_LEN;
	return 8 + (features & EXT_JOURNAL_INCOMPAT_64BIT ? 4 : 0) +
	       (features & EXT_JOURNAL_INCOMPAT_CSUM_V2 ? 2 : 0);
}

int ext_journal_walk(struct ext_walk *w, const struct ext_file *f)
{
	uint64_t block = ext_file_block(f, 0), at = block * w->block_size;
	const uint8_t *s = ext_new_block(w, block);
	struct ext_journal j = { .f = f, .super = s, .super_at = at };
	uint32_t fast = 0;

	if (!s || ONDISK_BE(s, journal_superblock, h_magic) != (uint32_t)EXT_JOURNAL_MAGIC)
		return ext_damaged(w, "the journal has no superblock");
	ext_add(w, journal_superblock, at, SUPER_LEN, "%s%s", f->label,
		ONDISK_BE(s, journal_superblock, s_start) ? ", /" : "");
	ext_cover(w, (struct ondisk_cover){
			     .at = at, .len = SUPER_LEN, .kind = EXT_SUM_JOURNAL_SUPER, .of = at });
	j.features = ONDISK_BE(s, journal_superblock, s_feature_incompat);
	j.tag_len = ext_journal_tag_len(j.features);
	j.tail_len = j.features & (EXT_JOURNAL_INCOMPAT_CSUM_V2 | EXT_JOURNAL_INCOMPAT_CSUM_V3)
			   ? TAIL_LEN
			   : 0;
	if (j.features & EXT_JOURNAL_INCOMPAT_FAST_COMMIT) {
		fast = ONDISK_BE(s, journal_superblock, s_num_fc_blks);
		fast = fast ? fast : FAST_COMMIT_BLOCKS;
	}
	j.first = ONDISK_BE(s, journal_superblock, s_first);
	j.end = ONDISK_BE(s, journal_superblock, s_maxlen) - fast;
	j.next = ONDISK_BE(s, journal_superblock, s_start);
	j.sequence = ONDISK_BE(s, journal_superblock, s_sequence);
	if (!j.next)
		return 0;
	if (j.first >= j.end || j.next < j.first || j.next >= j.end)
		return ext_damaged(w, "the log of the journal cannot be");
	j.left = j.end - j.first;
	return ext_journal_log(w, &j);
}
