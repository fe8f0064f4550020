/* campaign_file.h -- the file of a campaign: what is tested, by what, and for how long.
 *
 *	[campaign]
 *	seconds = 86400
 *	slice = 60
 *
 *	[arms.search]
 *	instrument = explore
 *	targets = kernel:* -kernel:hfs
 *	profiles = default crash
 *	options = --kernel-coverage
 *
 * docs/CAMPAIGN.md has all keys. */
#ifndef CAMPAIGN_CAMPAIGN_FILE_H
#define CAMPAIGN_CAMPAIGN_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "settings/ini.h"

struct buf;
struct err;

enum { CAMPAIGN_JOBS_MAX = 64, CAMPAIGN_SECTIONS_MAX = 100 };

/* Arms of one instrument. */
struct campaign_section {
	const char *name;
	int instrument; /* of instrument_table; -1: not given */
	/* Words with blanks between them. */
	const char *targets, *profiles, *options;
	double slice_seconds; /* 0: as the campaign says */
	double share;         /* percent of the time that all its arms have at least */
	double seconds;       /* that each arm has at most; 0: no limit */
	uint64_t parts;       /* that an instrument without a time limit is divided into */
};

struct campaign_file {
	struct ini ini; /* has the texts */
	char *name;     /* of the file, without its folder and ".ini" */
	double seconds; /* of the whole campaign; 0: no limit */
	double slice_seconds;
	double floor;   /* percent of the time that is dealt out evenly */
	int64_t end;    /* it ends then at the latest; 0: never */
	uint64_t seed;  /* 0: a new one */
	uint64_t jobs;  /* turns at the same time */
	uint64_t space; /* bytes that must be free on the disk for another turn */
	const char *end_text, *known, *config;
	struct campaign_section *sections;
	size_t section_count;
};

/* Reads the file, which must be trusted, since it names commands; or, where there is none, the
 * shipped one of this name. */
int campaign_file_read(struct campaign_file *f, const char *path, struct err *err);
int campaign_file_read_text(struct campaign_file *f, const char *name, const char *text,
			    struct err *err);
void campaign_file_free(struct campaign_file *f);

/* The words of a text, each with a NUL behind it. */
void campaign_words(const char *text, struct buf *ret_words_nul);

#endif
