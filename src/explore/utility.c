/* utility.c -- features of a state: shape of the tree, links, holes, attributes, what is dirty.
 *
 * States with equal features share the score one of them would have alone. */
#include "explore/utility.h"

#include "base/must.h"
#include "explore/explore.h"

/* Of trees with more objects, one in so many is looked at. */
enum { OBJECTS_MAX = 64, SAMPLE = 16 };

struct state_features {
	uint8_t dirs, files, symlinks, others; /* how many */
	uint8_t deep;                          /* directories in directories */
	uint8_t shared;                        /* files with several names */
	uint8_t filled;                        /* files with data */
	uint8_t holes;                         /* files with a hole */
	uint8_t unaligned;                     /* files that end inside a block */
	uint8_t large;                         /* files of several blocks */
	uint8_t xattrs;
	uint8_t special; /* setuid, setgid, sticky */
	uint8_t owned;   /* by another user than root */
	uint8_t orphans; /* removed but held */
	uint8_t open;    /* open files */
	uint8_t dirty;   /* class of the number of unsynced changes */
};

static void features_add_file(struct state_features *f, const struct inode *inode)
{
	uint64_t blocks = (inode->size + TREE_BLOCK - 1) / TREE_BLOCK;

	f->files++;
	f->shared += inode->nlink > 1;
	f->filled += blocks > 0;
	f->holes += tree_blocks(inode) < blocks;
	f->unaligned += inode->size % TREE_BLOCK != 0;
	f->large += blocks > 1;
}

static void features_add_inode(struct state_features *f, const struct inode *inode)
{
	f->orphans += !inode->nlink;
	f->xattrs += inode->xattrs.count > 0;
	f->special += (inode->mode & 07000) != 0;
	f->owned += inode->uid != 0;
	switch (inode->mode & S_IFMT) {
	case S_IFDIR:
		f->dirs++;
		f->deep += inode->dir.parent != TREE_ROOT;
		break;
	case S_IFREG:
		features_add_file(f, inode);
		break;
	case S_IFLNK:
		f->symlinks++;
		break;
	default:
		f->others++;
	}
}

static struct state_features features_of(const struct state *s)
{
	struct state_features f = { .open = (uint8_t)s->files.count };
	const struct inode *inode;
	struct pmap_walk walk;
	uint64_t key;

	pmap_walk(&walk, &s->tree.inodes);
	while ((inode = (const struct inode *)pmap_walk_next(&walk, &key)))
		features_add_inode(&f, inode);
	return f;
}

double utility_score(struct utility *u, const struct state *s, unsigned dirty)
{
	struct state_features f = features_of(s);
	uint64_t *count;

	while (dirty >> f.dirty)
		f.dirty++;
	count = hash_map_put(&u->seen, hash128(&f, sizeof(f), 0), NULL);
	return 1.0 / (double)++*count;
}

bool utility_add(struct utility *u, const struct state *s)
{
	struct state_features f;

	if (s->tree.inodes.count > OBJECTS_MAX && tree_hash(&s->tree).lo % SAMPLE)
		return false;
	f = features_of(s);
	return hash_set_add(&u->shapes, hash128(&f, sizeof(f), 0));
}

void utility_free(struct utility *u)
{
	hash_map_free(&u->seen);
	hash_set_free(&u->shapes);
}
