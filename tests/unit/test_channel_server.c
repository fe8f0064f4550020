/* test_channel_server.c -- what the serving side says of a file system that is gone; looks at the
 * whole tree and at parts of it. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/must.h"
#include "channel/server.h"
#include "tests/harness/unit.h"

static int scan_fails(void *own, struct tree *ret, struct err *err)
{
	(void)ret;
	return err_sys(err, *(int *)own, "listxattr of the root directory");
}

static bool yes(void *own)
{
	(void)own;
	return true;
}

static bool no(void *own)
{
	(void)own;
	return false;
}

static struct message *observed(int error)
{
	struct channel_server s = {
		.message = must_alloc(sizeof(*s.message)),
		.own = &error,
		.scan = scan_fails,
		.attached = yes,
		.gone = no,
	};

	channel_server_observe(&s);
	return s.message;
}

/* The first error that is set stays: one of the scan would hide why the daemon died. */
static void death_leaves_the_error_free(void **state)
{
	struct message *m = observed(ENOTCONN);

	assert_int_equal(m->fate, FATE_DIED);
	assert_int_equal(m->channel.failure, 0);
	assert_int_equal(m->channel.err.code, 0);
	free(m);
}

static void what_we_lack_is_our_failure(void **state)
{
	struct message *m = observed(EMFILE);

	assert_int_equal(m->fate, FATE_FINE);
	assert_int_equal(m->channel.failure, -EMFILE);
	assert_int_equal(m->channel.err.code, -EMFILE);
	free(m);
}

/* A file system of one tree. A look at a part of it sees that tree, or (blind) what was before. */
struct fake {
	struct tree tree;
	bool blind;
	unsigned scans, parts;
};

static int fake_call(void *own, const struct call *c, struct outcome *ret, struct err *err)
{
	(void)own, (void)c, (void)err;
	*ret = (struct outcome){ .bytes = "" };
	return 0;
}

static int fake_scan(void *own, struct tree *ret, struct err *err)
{
	struct fake *f = own;

	(void)err;
	f->scans++;
	*ret = tree_copy(&f->tree);
	return 0;
}

static bool fake_scan_part(void *own, const char *paths, struct tree *t)
{
	struct fake *f = own;

	(void)paths;
	f->parts++;
	if (f->blind)
		return true;
	tree_free(t);
	*t = tree_copy(&f->tree);
	return true;
}

/* One call with a look at a part, after which the tree is to be as it is now, or another. */
static struct plan_report followed(struct channel_server *s, const char *part,
				   struct tree *expected)
{
	s->message->request = REQUEST_FOLLOW;
	s->message->step_count = 1;
	s->message->steps[0] = (struct plan_step){
		.call.op = OP_sync,
		.expected.bytes = "",
		.exact = true,
		.observe = true,
		.part = part,
		.tree = tree_hash(expected),
	};
	channel_server_begin(s);
	channel_server_follow(s);
	return s->message->report;
}

static void change(struct tree *t, uint32_t mode)
{
	tree_edit(t, TREE_ROOT)->mode = S_IFDIR | mode;
	tree_settle(t);
}

static struct channel_server serving(struct fake *f)
{
	tree_init(&f->tree, TREE_FIELDS_DEFAULT, true, 0755, 0, 0);
	return (struct channel_server){
		.message = must_alloc(sizeof(struct message)),
		.own = f,
		.call = fake_call,
		.scan = fake_scan,
		.scan_part = fake_scan_part,
		.attached = yes,
		.gone = no,
		.times.shares = true,
	};
}

static void served(struct channel_server *s, struct fake *f)
{
	tree_free(&f->tree);
	times_watch_free(&s->times);
	free(s->message);
}

static void parts_are_looked_at_and_all_where_they_differ(void **state)
{
	struct fake f = { .blind = false };
	struct channel_server s = serving(&f);
	struct tree other;
	struct plan_report r;

	other = tree_copy(&f.tree);
	change(&other, 0700);
	/* Nothing is known at first. */
	assert_int_equal(followed(&s, ".\0", &f.tree).done, 1);
	assert_int_equal(f.scans, 1);
	assert_int_equal(f.parts, 0);
	assert_int_equal(followed(&s, ".\0", &f.tree).done, 1);
	assert_int_equal(followed(&s, NULL, &f.tree).done, 1);
	assert_int_equal(f.scans, 2);
	assert_int_equal(f.parts, 1);
	/* Behind a look at all, it can only be this call. */
	r = followed(&s, ".\0", &other);
	assert_int_equal(r.done, 0);
	assert_true(r.tree_differs);
	assert_false(r.late);
	assert_int_equal(f.scans, 3);
	/* What no part shows, the next look at all does; a call before may have done it. */
	f.blind = true;
	change(&f.tree, 0711);
	r = followed(&s, ".\0", &f.tree); /* not as the part says: all is looked at */
	assert_int_equal(r.done, 1);
	assert_int_equal(f.scans, 4);
	tree_free(&other);
	other = tree_copy(&f.tree);
	change(&f.tree, 0500);
	assert_int_equal(followed(&s, ".\0", &other).done, 1);
	r = followed(&s, NULL, &other);
	assert_true(r.tree_differs);
	assert_true(r.late);
	tree_free(&other);
	served(&s, &f);
}

/* Unmounting shows no tree. */
static void what_is_seen_behind_an_unmount_may_be_of_before(void **state)
{
	struct fake f = { .blind = false };
	struct channel_server s = serving(&f);
	struct tree other = tree_copy(&f.tree);
	struct plan_report r;

	followed(&s, NULL, &f.tree);
	followed(&s, ".\0", &f.tree);
	s.message->request = REQUEST_DETACH;
	channel_server_begin(&s);
	change(&f.tree, 0700);
	r = followed(&s, ".\0", &other);
	assert_true(r.tree_differs);
	assert_true(r.late);
	tree_free(&other);
	served(&s, &f);
}

static void a_plan_continues_behind_what_is_not_judged(void **state)
{
	struct fake f = { .blind = false };
	struct channel_server s = serving(&f);
	struct message *m = s.message;

	m->request = REQUEST_FOLLOW;
	m->step_count = 3;
	for (unsigned i = 0; i < 3; i++)
		m->steps[i] = (struct plan_step){ .call.op = OP_sync, .unjudged = i < 2 };
	channel_server_begin(&s);
	channel_server_follow(&s);
	assert_int_equal(m->report.done, 2); /* the last one is reported */
	served(&s, &f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(death_leaves_the_error_free),
		cmocka_unit_test(what_we_lack_is_our_failure),
		cmocka_unit_test(parts_are_looked_at_and_all_where_they_differ),
		cmocka_unit_test(what_is_seen_behind_an_unmount_may_be_of_before),
		cmocka_unit_test(a_plan_continues_behind_what_is_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
