/* test_op.c -- the table of operations, errno names, generated data, kinds. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/must.h"
#include "op/kind.h"
#include "op/op.h"
#include "tests/harness/unit.h"

static void every_operation_is_found_by_name(void **state)
{
	for (int op = 0; op < OP_COUNT; op++)
		assert_int_equal(op_find(op_table[op].name), op);
	assert_int_equal(op_find("mkdirr"), -1);
	assert_int_equal(op_find("mkdi"), -1);
	assert_int_equal(op_find(""), -1);
	assert_int_equal(op_find_len("mkdirat", 5), OP_mkdir);
}

static void rows_say_what_the_table_says(void **state)
{
	const struct op_info *info = &op_table[OP_openat];

	assert_string_equal(info->name, "openat");
	assert_int_equal(info->base, OP_open);
	assert_int_equal(info->result, RESULT_FD);
	assert_int_equal(info->args, 4);
	assert_string_equal(info->arg[3].name, "mode");
	assert_int_equal(info->arg[0].kind, KIND_DIRFD);
	assert_int_equal(info->traits, TRAIT_NAMES | TRAIT_DATA | TRAIT_ALLOC | TRAIT_OPENS);
	assert_int_equal(op_table[OP_sync].args, 0);
	assert_int_equal(op_table[OP_copy_file_range].args, OP_ARGS_MAX);
	for (int op = 0; op < OP_COUNT; op++)
		assert_int_equal(op_table[op_table[op].base].base, op_table[op].base);
	assert_true(op_last_optional(OP_open));
	assert_true(op_last_optional(OP_create_file));
	assert_false(op_last_optional(OP_creat));
	assert_false(op_last_optional(OP_openat2));
}

static void errors_have_names(void **state)
{
	assert_string_equal(errno_name(ENOENT), "ENOENT");
	assert_string_equal(errno_name(E2BIG), "E2BIG");
	assert_string_equal(errno_name(EOPNOTSUPP), "EOPNOTSUPP");
	assert_string_equal(errno_name(EAGAIN), "EAGAIN");
	assert_string_equal(errno_name(4000), "E4000");
	assert_int_equal(errno_find("ENOTSUP", 7), EOPNOTSUPP);
	assert_int_equal(errno_find("EWOULDBLOCK", 11), EAGAIN);
	assert_int_equal(errno_find("ENOENTX", 6), ENOENT);
	assert_int_equal(errno_find("ENOENTX", 7), -1);
	assert_int_equal(errno_find("E", 1), -1);
	assert_int_equal(errno_find("", 0), -1);
	for (int error = 1; error < 600; error++)
		assert_int_equal(errno_find(errno_name(error), strlen(errno_name(error))), error);
}

static void data_depends_on_seed_and_position(void **state)
{
	unsigned char whole[4096], part[64], other[4096];
	size_t same = 0;

	data_fill(7, 0, whole, sizeof(whole));
	for (size_t from = 0; from < 40; from++) {
		for (size_t len = 0; len < sizeof(part); len++) {
			data_fill(7, from, part, len);
			assert_memory_equal(part, whole + from, len);
		}
	}
	data_fill(8, 0, other, sizeof(other));
	for (size_t i = 0; i < sizeof(whole); i++)
		same += whole[i] == other[i];
	assert_in_range(same, 0, 64);
	data_fill(7, 4096, other, sizeof(other));
	assert_memory_not_equal(whole, other, 16);
	/* The bytes are part of the language: traces name them. */
	data_fill(1, UINT64_C(1) << 40, part, 4);
	data_fill(1, (UINT64_C(1) << 40) + 1, other, 3);
	assert_memory_equal(part + 1, other, 3);
}

static void data_ends_in_zeros(void **state)
{
	struct arg generated = { .seed = 3, .len = 10, .generated = true };
	struct arg own = { .text = "hello", .len = 5 }, null = { 0 };
	unsigned char expected[10], got[20];

	data_fill(3, 0, expected, 10);
	data_bytes(&generated, 4, got, 20);
	assert_memory_equal(got, expected + 4, 6);
	for (size_t i = 6; i < 20; i++)
		assert_int_equal(got[i], 0);
	data_bytes(&own, 3, got, 4);
	assert_memory_equal(got, "lo\0\0", 4);
	data_bytes(&own, UINT64_C(1) << 40, got, 2);
	assert_memory_equal(got, "\0\0", 2);
	data_bytes(&null, 0, got, 2);
	assert_memory_equal(got, "\0\0", 2);
}

static void assert_prints(enum kind kind, int64_t num, const char *expected)
{
	struct arg arg = { .num = num };
	struct buf out = BUF_INIT;

	arg_print(&arg, kind, &out);
	assert_string_equal(out.data, expected);
	buf_free(&out);
}

static void flags_print_by_name(void **state)
{
	assert_prints(KIND_OPEN_FLAGS, O_RDWR | O_CREAT, "O_RDWR|O_CREAT");
	assert_prints(KIND_OPEN_FLAGS, O_WRONLY | O_RDWR, "O_ACCMODE");
	assert_prints(KIND_OPEN_FLAGS, OPEN_RDONLY | O_SYNC, "O_RDONLY|O_SYNC");
	assert_prints(KIND_OPEN_FLAGS, O_DSYNC, "O_DSYNC");
	assert_prints(KIND_OPEN_FLAGS, O_TMPFILE | O_RDWR, "O_RDWR|O_TMPFILE");
	assert_prints(KIND_OPEN_FLAGS, O_DIRECTORY, "O_DIRECTORY");
	assert_prints(KIND_OPEN_FLAGS, O_CREAT | 0x40000000, "O_CREAT|0x40000000");
	assert_prints(KIND_OPEN_FLAGS, 0, "0");
	assert_prints(KIND_MODE, 0644, "0644");
	assert_prints(KIND_MODE, 0, "0000");
	assert_prints(KIND_MODE, -1, "-1");
	assert_prints(KIND_NODE_MODE, 0100644, "S_IFREG|0644");
	assert_prints(KIND_NODE_MODE, 0644, "0644");
	assert_prints(KIND_NODE_MODE, 0170644, "0170644");
	assert_prints(KIND_WHENCE, 1, "SEEK_CUR");
	assert_prints(KIND_WHENCE, 99, "99");
	assert_prints(KIND_DIRFD, -100, "AT_FDCWD");
	assert_prints(KIND_DIRFD, -1, "-1");
	assert_prints(KIND_ACCESS_MODE, 0, "F_OK");
	assert_prints(KIND_ACCESS_MODE, 5, "R_OK|X_OK");
	assert_prints(KIND_STATX_MASK, 0xfff, "STATX_BASIC_STATS|STATX_BTIME");
	assert_prints(KIND_STATX_MASK, 3, "STATX_TYPE|STATX_MODE");
	assert_prints(KIND_AT_FLAGS, 0x200, "AT_REMOVEDIR");
	assert_prints(KIND_ACCESS_FLAGS, 0x200, "AT_EACCESS");
	assert_prints(KIND_TIME, TIME_OMIT, "UTIME_OMIT");
	assert_prints(KIND_COUNT, INT64_MIN, "-9223372036854775808");
}

static void add_name(void *to, size_t partition)
{
	struct {
		enum kind kind;
		struct buf out;
	} *names = to;

	buf_adds(&names->out, names->out.len ? "," : "");
	kind_partition_name(names->kind, partition, &names->out);
}

static void assert_partitions(enum kind kind, struct arg arg, const char *expected)
{
	struct {
		enum kind kind;
		struct buf out;
	} names = { kind, BUF_INIT };

	kind_visit_partitions(kind, &arg, add_name, &names);
	assert_string_equal(buf_str(&names.out), expected);
	buf_free(&names.out);
}

static void assert_num_partitions(enum kind kind, int64_t num, const char *expected)
{
	assert_partitions(kind, (struct arg){ .num = num }, expected);
}

static void assert_text_partitions(enum kind kind, const char *text, const char *expected)
{
	assert_partitions(kind, (struct arg){ .text = text, .len = (uint32_t)strlen(text) },
			  expected);
}

static void values_are_in_partitions(void **state)
{
	assert_num_partitions(KIND_COUNT, -5, "negative");
	assert_num_partitions(KIND_COUNT, 0, "0");
	assert_num_partitions(KIND_COUNT, 1, "2^0");
	assert_num_partitions(KIND_COUNT, 2, "2^1");
	assert_num_partitions(KIND_COUNT, 3, "2^1..2^2");
	assert_num_partitions(KIND_COUNT, 4096, "2^12");
	assert_num_partitions(KIND_COUNT, 4097, "2^12..2^13");
	assert_num_partitions(KIND_OFFSET, INT64_C(1) << 62, "2^62");
	assert_num_partitions(KIND_OFFSET, INT64_MAX, "2^62..2^63");
	assert_num_partitions(KIND_OPEN_FLAGS, 0, "O_RDONLY");
	assert_num_partitions(KIND_OPEN_FLAGS, OPEN_RDONLY, "O_RDONLY");
	assert_num_partitions(KIND_OPEN_FLAGS, OPEN_EXEC, "O_EXEC");
	assert_num_partitions(KIND_OPEN_FLAGS, O_CREAT | O_RDWR, "O_RDWR,O_CREAT");
	assert_num_partitions(KIND_OPEN_FLAGS, 3, "O_ACCMODE");
	assert_num_partitions(KIND_OPEN_FLAGS, 0x40000000, "O_RDONLY,unknown");
	assert_num_partitions(KIND_FALLOC_MODE, 0, "0");
	assert_num_partitions(KIND_FALLOC_MODE, 3, "FALLOC_FL_KEEP_SIZE,FALLOC_FL_PUNCH_HOLE");
	assert_num_partitions(KIND_MODE, 0600, "S_IRUSR,S_IWUSR");
	assert_num_partitions(KIND_MODE, MODE_ABSENT, "");
	assert_num_partitions(KIND_WHENCE, 4, "SEEK_HOLE");
	assert_num_partitions(KIND_WHENCE, 40, "unknown");
	assert_num_partitions(KIND_ACCESS_MODE, 0, "F_OK");
	assert_num_partitions(KIND_DIRFD, -100, "AT_FDCWD");
	assert_num_partitions(KIND_DIRFD, -1, "negative");
	assert_num_partitions(KIND_FD, 3, "positive");
	assert_num_partitions(KIND_COPY_FLAGS, 0, "0");
	assert_num_partitions(KIND_COPY_FLAGS, 1, "unknown");
	assert_partitions(KIND_PATH, (struct arg){ 0 }, "null");
	assert_text_partitions(KIND_PATH, "", "empty");
	assert_text_partitions(KIND_PATH, "/a//b/", "absolute,final slash,double slash");
	assert_text_partitions(KIND_PATH, "a/..", "relative,final dot");
	assert_text_partitions(KIND_PATH, "./", "relative,final slash,final dot");
	assert_text_partitions(KIND_PATH, "a.", "relative");
	assert_text_partitions(KIND_XATTR_NAME, "user.x", "user");
	assert_text_partitions(KIND_XATTR_NAME, "x", "other");
	assert_partitions(KIND_DATA, (struct arg){ .text = "x", .len = 1 }, "");
}

static void long_paths_are_told(void **state)
{
	char text[5000];

	memset(text, 'a', sizeof(text));
	text[255] = '/';
	assert_partitions(KIND_PATH, (struct arg){ .text = text, .len = 256 },
			  "relative,final slash");
	assert_partitions(KIND_PATH, (struct arg){ .text = text, .len = 256 + 256 },
			  "relative,name too long");
	assert_partitions(KIND_PATH, (struct arg){ .text = text, .len = 5000 },
			  "relative,name too long,path too long");
}

/* No two partitions of a kind have the same name. */
static void partitions_have_distinct_names(void **state)
{
	struct buf names[PARTITIONS_MAX];
	size_t count;

	for (int kind = 0; kind < KIND_COUNT_; kind++) {
		count = kind_partitions((enum kind)kind);
		assert_in_range(count, 0, PARTITIONS_MAX);
		for (size_t i = 0; i < count; i++) {
			names[i] = (struct buf)BUF_INIT;
			kind_partition_name((enum kind)kind, i, &names[i]);
			for (size_t j = 0; j < i; j++)
				assert_string_not_equal(names[i].data, names[j].data);
		}
		for (size_t i = 0; i < count; i++)
			buf_free(&names[i]);
	}
}

static void boundaries_are_distinct(void **state)
{
	struct arg value;
	int64_t values[512];
	size_t count;

	for (int kind = 0; kind < KIND_COUNT_; kind++) {
		for (int near = 0; near < 2; near++) {
			for (count = 0; kind_boundary((enum kind)kind, count, near, &value);
			     count++) {
				assert_true(count < ARRAY_LEN(values));
				for (size_t i = 0; i < count; i++)
					assert_true(values[i] != value.num);
				values[count] = value.num;
			}
			assert_int_equal(!count, kind_table[kind]->form != FORM_NUM);
		}
	}
	assert_true(kind_boundary(KIND_COUNT, 64, false, &value));
	assert_true(value.num == INT64_MAX);
	assert_false(kind_boundary(KIND_COUNT, 65, false, &value));
}

/* A row of kinds.def is that of the same name, and knows all that a row must know. */
static void every_kind_is_a_whole_row(void **state)
{
	static const char *const names[] = {
#define KIND(NAME, name) [KIND_##NAME] = #name,
#include "op/kinds.def"
#undef KIND
	};

	for (int kind = 0; kind < KIND_COUNT_; kind++) {
		const struct kind_info *info = kind_table[kind];

		assert_string_equal(info->name, names[kind]);
		assert_int_equal(kind_find(names[kind]), kind);
		assert_true(info->picked && info->print && info->lex && info->partitions &&
			    info->c_text);
		assert_int_equal(!info->boundary, info->form != FORM_NUM);
	}
}

/* Takes every candidate that changes the value, as shrinking does where each still fails. */
static void assert_simplifying_ends(enum kind kind, struct arg value, struct arena *arena)
{
	const struct kind_info *info = kind_table[kind];
	struct arg simpler;
	size_t taken = 0;

	for (size_t i = 0; info->simpler; i++) {
		simpler = (struct arg){ 0 };
		if (!info->simpler(info, OP_open, &value, i, arena, &simpler))
			return;
		if (arg_equal(&value, &simpler, kind))
			continue;
		value = simpler;
		i = (size_t)-1; /* again from the boldest */
		assert_in_range(taken++, 0, 100);
	}
}

static void simplifying_ends(void **state)
{
	static const char *const texts[] = { "", "/", "a", "/a", "abc/def//ghi/", "/.." };
	struct arena arena = { 0 };
	struct arg value;

	for (int kind = 0; kind < KIND_COUNT_; kind++) {
		for (size_t i = 0; kind_boundary((enum kind)kind, i, true, &value); i++)
			assert_simplifying_ends((enum kind)kind, value, &arena);
		for (size_t i = 0; kind_table[kind]->form != FORM_NUM && i < ARRAY_LEN(texts); i++)
			assert_simplifying_ends((enum kind)kind,
						(struct arg){ .text = texts[i],
							      .len = (uint32_t)strlen(texts[i]) },
						&arena);
	}
	assert_simplifying_ends(KIND_PATH, (struct arg){ 0 }, &arena);
	assert_simplifying_ends(KIND_DATA, (struct arg){ .seed = 7, .len = 9, .generated = true },
				&arena);
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_is_found_by_name),
		cmocka_unit_test(rows_say_what_the_table_says),
		cmocka_unit_test(errors_have_names),
		cmocka_unit_test(data_depends_on_seed_and_position),
		cmocka_unit_test(data_ends_in_zeros),
		cmocka_unit_test(flags_print_by_name),
		cmocka_unit_test(values_are_in_partitions),
		cmocka_unit_test(long_paths_are_told),
		cmocka_unit_test(partitions_have_distinct_names),
		cmocka_unit_test(boundaries_are_distinct),
		cmocka_unit_test(every_kind_is_a_whole_row),
		cmocka_unit_test(simplifying_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
