/* test_audit_dirhash.c -- hashes of names are those of ext2fs_dirhash() of e2fsprogs 1.47.0. */
#include <string.h>

#include "audit/ext_dirhash.h"
#include "base/must.h"
#include "tests/harness/unit.h"

static const uint8_t none[EXT_DIRHASH_SEED_LEN];
static const uint8_t seed[EXT_DIRHASH_SEED_LEN] = {
	0x6b, 0x33, 0x5f, 0x86, 0xa1, 0x83, 0x84, 0x83,
	0x92, 0x21, 0xef, 0x1d, 0x0e, 0x65, 0xac, 0x1e
};

static const struct {
	const char *name;
	const uint8_t *seed;
	uint32_t hashes[EXT_DIRHASH_VERSIONS];
} rows[] = {
	{ "a", none, { 0xe74b53e2, 0xd5fa7d7a, 0x6d0ea4c0, 0xe74b53e2, 0xd5fa7d7a, 0x6d0ea4c0 } },
	{ "a", seed, { 0xe74b53e2, 0xc3bfa6e0, 0xc89dcc94, 0xe74b53e2, 0xc3bfa6e0, 0xc89dcc94 } },
	{ "gr\303\274n-abcdefghijklmnopqrstuvwxyz",
	  none,
	  { 0x3df49d2e, 0x2e921836, 0xc5bdd7be, 0xb7c19a38, 0x599b602e, 0x7a2daece } },
	{ "gr\303\274n-abcdefghijklmnopqrstuvwxyz",
	  seed,
	  { 0x3df49d2e, 0xfeeee47e, 0x424b4db8, 0xb7c19a38, 0x0a757740, 0xeedc70f6 } },
	{ "0123456789abcdefghijklmnopqrstuv",
	  none,
	  { 0x37ba6686, 0x6afdf492, 0x48d1e08c, 0x37ba6686, 0x6afdf492, 0x48d1e08c } },
};

static void hashes_are_those_of_the_format(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (unsigned version = 0; version < EXT_DIRHASH_VERSIONS; version++)
			assert_int_equal(ext_dirhash(version, rows[i].seed,
						     (const uint8_t *)rows[i].name,
						     strlen(rows[i].name)),
					 rows[i].hashes[version]);
}

static void the_longest_name_has_a_hash(void **state)
{
	static const uint32_t hashes[EXT_DIRHASH_VERSIONS] = { 0xb55d5440, 0x6237a950, 0x8fa49ad6,
							       0x6b5084d4, 0xee6f04ae, 0x4dfc19a0 };
	uint8_t name[255];

	memset(name, 0xff, sizeof(name));
	for (unsigned version = 0; version < EXT_DIRHASH_VERSIONS; version++)
		assert_int_equal(ext_dirhash(version, seed, name, sizeof(name)), hashes[version]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_are_those_of_the_format),
		cmocka_unit_test(the_longest_name_has_a_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
