/* checkpoints.h -- for tests of checkpoints: a search that has just begun, and files to give it. */
#ifndef TESTS_CHECKPOINTS_H
#define TESTS_CHECKPOINTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "explore/explorer.h"

enum {
	BEGUN_BITS_BYTES = 1 << 16, /* for bits of visited states */
	BEGUN_FAMILIAR = 40,        /* the first bytes: version, fingerprint, calls, operations */
};

struct begun {
	struct explore_options options;
	struct universe universe;
	struct explorer x;
};

/* A search of the tiny universe, before its first call. */
static inline void begun_open(struct begun *b, enum strategy strategy, bool bitstate)
{
	struct err err = { 0 };

	*b = (struct begun){ .options = { .strategy = strategy, .bitstate = bitstate } };
	must(!universe_open(&b->universe, "tiny", NULL, 0, &err));
	b->x = (struct explorer){ .options = &b->options, .universe = &b->universe };
	graph_init(&b->x.graph, b->universe.calls);
	tally_init(&b->x.tally, &b->universe, NULL);
	b->x.list.strategy = strategy;
	if (bitstate)
		bitstate_init(&b->x.bits, BEGUN_BITS_BYTES);
}

static inline void begun_close(struct begun *b)
{
	branch_forget(&b->x);
	tally_free(&b->x.tally);
	graph_free(&b->x.graph);
	universe_free(&b->universe);
}

/* What a file of these bytes does to it; err says why it is refused. */
static inline int begun_load(struct begun *b, const void *bytes, size_t len, struct err *err)
{
	int fd = memfd_create("checkpoint", MFD_CLOEXEC), status;

	must(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && !lseek(fd, 0, SEEK_SET));
	status = checkpoint_load(&b->x, fd, "checkpoint", err);
	close(fd);
	return status;
}

/* The first bytes of every checkpoint that this program makes in the tiny universe. */
static inline void begun_familiar(unsigned char ret[BEGUN_FAMILIAR])
{
	char dir[] = "/tmp/assay-begun-XXXXXX", path[64];
	struct run run = { .dir = dir };
	struct err err = { 0 };
	struct begun b;
	FILE *file;

	must(mkdtemp(dir));
	begun_open(&b, STRATEGY_TOUR, false);
	b.x.run = &run;
	must(!checkpoint_write(&b.x, &err));
	begun_close(&b);
	snprintf(path, sizeof(path), "%s/checkpoint", dir);
	file = fopen(path, "re");
	must(file && fread(ret, 1, BEGUN_FAMILIAR, file) == BEGUN_FAMILIAR);
	fclose(file);
	must(!unlink(path) && !rmdir(dir));
}

/* Puts the checksum of what is before it into the last 16 bytes. */
static inline void begun_seal(unsigned char *bytes, size_t len)
{
	struct hash seal = hash128(bytes, len - sizeof(seal), 0);

	memcpy(bytes + len - sizeof(seal), &seal, sizeof(seal));
}

#endif
