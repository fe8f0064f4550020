/* test_channel_server.c -- what the serving side says of a file system that is gone. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(death_leaves_the_error_free),
		cmocka_unit_test(what_we_lack_is_our_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
