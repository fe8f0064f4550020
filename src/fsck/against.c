/* against.c -- two checkers are examined together. */
#include "fsck/against.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "fsck/compare_report.h"

static int against_found(struct examination *x, struct compared *found, const char *field,
			 struct err *err)
{
	int r = found->loser >= 0 ? compare_report(&x->comparison, x->run, found, field, err) : 0;

	compared_free(found);
	examination_show_progress(x);
	return r ? r : !examination_is_over(x);
}

static int against_visit(void *to, const char *field, const struct corruption corruptions[2],
			 struct err *err)
{
	struct examination *x = to;
	struct compared found;
	int r = comparison_try(&x->comparison, corruptions, &found, err);

	return r ? r : against_found(x, &found, field, err);
}

/* On one disk, the same bytes. */
static int against_test(void *to, const struct corruption *c, struct field_progress *p,
			struct err *err)
{
	const struct corruption same[2] = { *c, *c };
	struct buf field = BUF_INIT;
	int r;

	p->images++;
	corruption_print_fields(c, &field);
	r = against_visit(to, field.data, same, err);
	buf_free(&field);
	return r;
}

static int against_images(struct examination *x, struct err *err)
{
	struct buf disks[2] = { BUF_INIT, BUF_INIT };
	struct compared found;
	int r = disk_file_read(&disks[0], x->options->image, err);

	if (!r)
		r = disk_file_read(&disks[1], x->options->against_image, err);
	for (int i = 0; i < 2 && !r; i++)
		if (disks[i].len != x->comparison.sides[i]->damaged.size)
			r = err_set(err, EINVAL, "%s is not as large as the test disk",
				    i ? x->options->against_image : x->options->image);
	if (!r) {
		const uint8_t *bytes[2] = { (const uint8_t *)disks[0].data,
					    (const uint8_t *)disks[1].data };

		r = comparison_try_disks(&x->comparison, bytes, &found, err);
		if (!r)
			r = against_found(x, &found, "a damaged disk", err);
	}
	buf_free(&disks[0]);
	buf_free(&disks[1]);
	return r < 0 ? r : 0;
}

static bool is_same_disk(const struct test_disk *a, const struct test_disk *b)
{
	return a->image.size == b->image.size &&
	       !memcmp(a->image.bytes, b->image.bytes, a->image.size);
}

void against_begin(struct examination *x, struct examination *other, const char *config)
{
	x->other = other;
	comparison_init(&x->comparison, &x->program, &other->program);
	x->comparison.one_disk = is_same_disk(&x->disk, &other->disk);
	x->comparison.config = config;
}

int against_work(struct examination *x, struct err *err)
{
	const struct ondisk_map *maps[2] = { examination_map(x), examination_map(x->other) };

	if (x->options->image)
		return against_images(x, err);
	if (!maps[0] || !maps[1])
		return err_set(err, ENOTSUP, "the fields of these file systems are not described");
	if (x->comparison.one_disk)
		return examination_fields(x, against_test, err);
	return comparison_each(&x->comparison, maps, x->options->seed, against_visit, x, err);
}

void against_end(struct examination *x)
{
	fsck_close(&x->other->program);
	comparison_free(&x->comparison);
}
