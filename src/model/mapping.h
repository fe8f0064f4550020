/* mapping.h -- inside the model: mappings of files, and what they show.
 *
 * A shared mapping and the file are one. A private one has its own copy of every page that was
 * stored to (or populated for that); its other pages are the file's. Behind the end of the file,
 * the last page holds zeros until something is stored there, which never becomes part of the file.
 */
#ifndef MODEL_MAPPING_H
#define MODEL_MAPPING_H

#include "model/io.h"

/* Longer accesses are cut, as those of src/syscall are. */
enum { MAP_MOVED_MAX = 64 << 20 };

/* What mmap is asked for. */
struct map_request {
	const struct arg *fd;
	int64_t length, prot, flags, offset;
};

/* Checks and makes it; returns the handle, or -1 where it is refused or only asked about. */
int64_t map_make(struct step *x, const struct map_request *request);
/* The same, in earnest whatever the question. */
int64_t map_first(struct step *x, const struct map_request *request);
/* MAP_POPULATE: populate_vma_page_range touches the pages of a private mapping that can be written
 * by a write fault, so the mapping has its own copies of them. mmap does not say where it stops. */
void map_populate(struct step *x, int64_t handle);
void map_load(struct step *x, int64_t handle, int64_t count, int64_t offset);
void map_store(struct step *x, int64_t handle, const struct arg *data, int64_t count,
	       int64_t offset);

/* The part of a range of a mapping that lies in it and not behind the last page of the file. */
uint64_t map_reach(const struct step *x, const struct mapping *map, uint64_t offset,
		   uint64_t count);
/* Bytes of a mapping, within reach. False: not all of them are known. */
bool map_bytes(const struct step *x, const struct mapping *map, uint64_t offset, char *to,
	       size_t count);

/* What the operations ending in _file do with the descriptor. */
void load_file(struct step *x, const struct arg *fd);
void store_file(struct step *x, const struct arg *fd);

/* A range of a file was collapsed or inserted: private copies from there on may be gone. */
void maps_shifted(struct step *x, uint64_t ino, uint64_t offset);
/* After every call: what sizes that changed do to private copies and to what was stored behind
 * the end. */
void maps_follow(struct state *s);

#endif
