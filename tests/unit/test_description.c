/* test_description.c -- targets in INI: bases, order of the search, errors that say where. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "target/description.h"
#include "target/target.h"
#include "tests/harness/unit.h"
#include "tree/tree.h"

static char config[] = "/tmp/assay-description-XXXXXX";

static int make_config(void **state)
{
	int fd = mkstemp(config);

	return fd < 0 || close(fd);
}

static int remove_config(void **state)
{
	return unlink(config);
}

/* Finds a target in the given text (and behind it, the shipped ones). */
static int find(struct target_description *d, const char *spec, const char *text, struct err *err)
{
	struct buf contents = BUF_INIT;
	int ret;

	*err = (struct err){ 0 };
	buf_adds(&contents, text);
	assert_int_equal(buf_write_file(&contents, config, err), 0);
	buf_free(&contents);
	ret = description_find(d, spec, config, err);
	return ret;
}

static void assert_refused(const char *spec, const char *text, const char *expected)
{
	struct target_description d;
	struct err err;

	assert_int_not_equal(find(&d, spec, text, &err), 0);
	if (!strstr(err.text, expected))
		fail_msg("\"%s\" does not say \"%s\"", err.text, expected);
	description_free(&d);
}

static void rows_are_read(void **state)
{
	struct target_description d;
	struct err err;

	if (find(&d, "x",
		 "[target.x]\nkind = host\nfs = ext4\nimage_size = 2M\nfields = nlink_dir times\n"
		 "mkfs = mkfs.ext4 -q\n\t-b 1024 {image}\nold_bytes = 1M\n"
		 "trait.link_max = 65000 ; because: it stops there\ntrait.no_xattr = yes\n",
		 &err))
		fail_msg("%s", err.text);
	assert_string_equal(d.name, "x");
	assert_null(d.argument);
	assert_string_equal(d.fs, "ext4");
	assert_int_equal(d.image_size, 2 << 20);
	assert_int_equal(d.old_bytes, 1 << 20);
	assert_string_equal(d.mkfs, "mkfs.ext4 -q -b 1024 {image}");
	assert_int_equal(d.fields_off, TREE_NLINK_DIR | TREE_TIMES);
	assert_int_equal(d.trait_count, 2);
	assert_string_equal(d.traits[0].name, "link_max");
	assert_string_equal(d.traits[0].value, "65000");
	assert_string_equal(d.traits[0].reason, "it stops there");
	assert_null(d.traits[1].reason);
	description_free(&d);
}

static void traits_end_with_a_version(void **state)
{
	static const char text[] = "[target.x]\nkind = host\ntrait.no_xattr = until 999.9\n"
				   "trait.no_mknod = until 2.6\n"
				   "[target.y]\nbase = x\nkind = kernel\n";
	struct target_description d;
	struct err err;

	assert_int_equal(find(&d, "x", text, &err), 0);
	assert_string_equal(d.traits[0].value, "yes");
	assert_string_equal(d.traits[1].value, "no");
	description_free(&d);
	/* One that is not there has no version. */
	assert_int_equal(find(&d, "y@no-such-kernel", text, &err), 0);
	assert_string_equal(d.traits[0].value, "no");
	description_free(&d);
	assert_refused("x", "[target.x]\nkind = host\ntrait.no_xattr = until then\n",
		       ":3: \"then\": expected a kernel version");
	assert_refused("x", "[target.x]\nkind = host\ntrait.link_max = until 6.5\n", ":3: ");
}

static void a_target_has_the_version_of_its_kernel(void **state)
{
	static const char text[] = "[target.x]\nkind = host\n[target.y]\nkind = kernel\n";
	struct target_description d;
	struct err err;

	assert_int_equal(find(&d, "x", text, &err), 0);
	assert_int_equal(version_compare(description_kernel(&d), version_running()), 0);
	description_free(&d);
	assert_int_equal(find(&d, "y@no-such-kernel", text, &err), 0);
	assert_false(version_known(description_kernel(&d)));
	description_free(&d);
	assert_int_equal(find(&d, "reffs", text, &err), 0);
	assert_int_equal(version_compare(description_kernel(&d), KERNEL_CURRENT), 0);
	description_free(&d);
}

static void a_target_is_judged_by_its_own_kernel(void **state)
{
	struct target t = { .kernel = VERSION(6, 3), .traits = traits_usual };
	struct model m;

	t.traits.link_max = 7;
	target_model(&t, &m);
	assert_int_equal(m.platform, PLATFORM_LINUX);
	assert_int_equal(m.traits.link_max, 7);
	assert_false(rule_applies(&m, RULE_open_create_directory)); /* since 6.4 */
	t.kernel = (struct version){ 6, 4, 0 };
	target_model(&t, &m);
	assert_true(rule_applies(&m, RULE_open_create_directory));
}

static void a_base_is_inherited_and_overridden(void **state)
{
	static const char text[] = "[target.a]\nkind = host\nfs = one\noptions = o\n"
				   "trait.link_max = 1 ; a\ntrait.name_max = 9 ; b\n"
				   "[target.b]\nbase = a\nfs = two\ntrait.link_max = 2 ; c\n";
	struct target_description d;
	struct err err;

	assert_int_equal(find(&d, "b:argument:more", text, &err), 0);
	assert_string_equal(d.name, "b");
	assert_string_equal(d.argument, "argument:more");
	assert_string_equal(d.kind, "host");
	assert_string_equal(d.fs, "two");
	assert_string_equal(d.options, "o");
	assert_int_equal(d.trait_count, 2);
	assert_string_equal(d.traits[0].value, "2");
	assert_string_equal(d.traits[0].reason, "c");
	description_free(&d);
}

static void the_user_comes_before_the_shipped(void **state)
{
	struct target_description d;
	struct err err;

	assert_int_equal(find(&d, "reffs", "[target.reffs]\nbase = reffs\nsummary = mine\n", &err),
			 0);
	assert_string_equal(d.kind, "reffs");
	assert_string_equal(d.summary, "mine");
	description_free(&d);
	assert_int_equal(find(&d, "reffs", "", &err), 0);
	assert_string_not_equal(d.summary, "mine");
	description_free(&d);
}

static void mistakes_are_named_with_their_place(void **state)
{
	assert_refused("x", "[target.x]\nkind = host\n\nflavour = 1\n",
		       ":4: flavour: no such setting");
	assert_refused("x", "[target.x]\nkind = host\ntrait.colour = 1\n",
		       ":3: colour: no such trait");
	assert_refused("x", "[target.x]\nimage_size = much\n", ":2: ");
	assert_refused("x", "[target.x]\nfields = nlink smell\n", ":2: smell is no field");
	assert_refused("x", "[target.x]\nfs = y\n", "says no kind");
	assert_refused("x", "[target.x]\nbase = nowhere\n", "its base nowhere is not described");
	assert_refused("x", "[target.x]\nbase = y\n[target.y]\nbase = x\n",
		       "bases behind each other");
	assert_refused("x", "[target.x]\nbase = x\n", "its base x is not described");
	assert_refused("y", "[target.x]\nkind = host\n", "y: no such target");
}

static void every_shipped_target_is_whole(void **state)
{
	struct buf names = BUF_INIT;
	struct err err = { 0 };
	struct target_description d;

	assert_int_equal(find(&d, "reffs", "[target.mine]\nbase = reffs\n", &err), 0);
	description_free(&d);
	assert_int_equal(description_names(config, &names, &err), 0);
	assert_string_equal(names.data, "mine");
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1) {
		if (description_find(&d, names.data + at, config, &err))
			fail_msg("%s", err.text);
		assert_non_null(d.kind);
		assert_non_null(d.summary);
		description_free(&d);
	}
	buf_free(&names);
}

/* What lies below is read with the description, and has to make sense. */
static void content_is_checked(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "[target.x]\nbase = overlay\ncontent = mkdir(\"a\", 0755)\n", "content_dir" },
		{ "[target.x]\nbase = overlay\ncontent_dir = {dir}/lower\ncontent = fly(\"a\")\n",
		  "content:1" },
		{ "[target.x]\nbase = reffs\ncontent_dir = /\ncontent = mkdir(\"a\", 0755)\n",
		  "nothing can lie below" },
	};
	struct target_description d;
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(find(&d, "x", rows[i].text, &err), 0);
		description_free(&d);
		assert_int_equal(target_check("x", config, &err), -EINVAL);
		if (!strstr(err.text, rows[i].says))
			fail_msg("%s: not about %s", err.text, rows[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read),
		cmocka_unit_test(traits_end_with_a_version),
		cmocka_unit_test(a_target_has_the_version_of_its_kernel),
		cmocka_unit_test(a_target_is_judged_by_its_own_kernel),
		cmocka_unit_test(a_base_is_inherited_and_overridden),
		cmocka_unit_test(the_user_comes_before_the_shipped),
		cmocka_unit_test(mistakes_are_named_with_their_place),
		cmocka_unit_test(every_shipped_target_is_whole),
		cmocka_unit_test(content_is_checked),
	};

	return cmocka_run_group_tests(tests, make_config, remove_config);
}
