/* SPDX-License-Identifier: GPL-2.0 */
/* count.h -- counting a call: its result by errno and size, its arguments by class or value. */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRACE_ROWS);
	__type(key, __u32);
	__type(value, struct trace_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, TRACE_COMBINATIONS);
	__type(key, struct trace_value);
	__type(value, __u64);
} values SEC(".maps");

static __always_inline __u32 log2_of(__u64 n)
{
	__u32 log = 0;

	if (n >> 32) {
		n >>= 32;
		log += 32;
	}
	if (n >> 16) {
		n >>= 16;
		log += 16;
	}
	if (n >> 8) {
		n >>= 8;
		log += 8;
	}
	if (n >> 4) {
		n >>= 4;
		log += 4;
	}
	if (n >> 2) {
		n >>= 2;
		log += 2;
	}
	return log + (n >> 1);
}

/* negative, 0, 1, 2, 2..4, 4, ... as the partitions of numbers are. */
static __always_inline __u32 class_of(__s64 n)
{
	if (n <= 1)
		return n < 0 ? 0 : n + 1;
	return 1 + 2 * log2_of(n) + !!(n & (n - 1));
}

struct trace_sum {
	__u64 pieces, total;
	__u32 count;
	bool failed;
};

static long add_piece(__u32 i, void *context)
{
	struct trace_sum *sum = context;
	struct iovec piece;

	if (i >= sum->count)
		return 1;
	if (bpf_probe_read_user(&piece, sizeof(piece),
				(void *)(sum->pieces + i * sizeof(piece)))) {
		sum->failed = true;
		return 1;
	}
	sum->total += piece.iov_len;
	return 0;
}

/* What SPECIAL finds behind a pointer; false where it cannot be read. */
static __always_inline bool read_behind(__u8 special, struct pt_regs *regs, __u64 behind[3])
{
	struct trace_sum sum = { .pieces = argument(regs, 1) };
	__u32 word = 0;

	switch (special) {
	case SPECIAL_HOW:
		return !bpf_probe_read_user(behind, 24, (void *)argument(regs, 2));
	case SPECIAL_WORD:
		if (bpf_probe_read_user(&word, sizeof(word), (void *)argument(regs, 2)))
			return false;
		behind[0] = word;
		return true;
	case SPECIAL_VECTOR:
		sum.count = argument(regs, 2);
		if (sum.count > UIO_MAXIOV)
			return false;
		bpf_loop(UIO_MAXIOV, add_piece, &sum, 0);
		behind[0] = sum.total;
		return !sum.failed;
	default:
		return true;
	}
}

static __always_inline void count_value(struct trace_counts *c, __u32 row, __u32 arg, __u64 value)
{
	struct trace_value key = { .row = row, .arg = arg, .value = value };
	__u64 *count, one = 1;

	if (value < TRACE_CLASSES) {
		c->number[arg][value] += 1;
		return;
	}
	count = bpf_map_lookup_elem(&values, &key);
	if (count)
		*count += 1;
	else if (bpf_map_update_elem(&values, &key, &one, BPF_ANY))
		__sync_fetch_and_add(&lost, 1);
}

static __always_inline bool makes_file(struct pt_regs *regs, const volatile struct trace_row *row)
{
	return argument(regs, row->arg[0].from) & O_MAKES;
}

static __always_inline void count_args(struct trace_counts *c, __u32 i, struct pt_regs *regs)
{
	const volatile struct trace_row *row = row_at(i);
	__u64 behind[3] = { 0 }, value;

	if (!read_behind(row->special, regs, behind))
		return;
	for (__u32 a = 0; a < TRACE_ARGS && a < row->args; a++) {
		__u8 from = row->arg[a].from;

		if (row->special == SPECIAL_OPEN && a == 1 && !makes_file(regs, row))
			break;
		if (row->special == SPECIAL_HOW && a == 1 && !(behind[0] & O_MAKES))
			continue;
		if (from == SYSCALL_BEHIND)
			value = behind[0];
		else if (from == SYSCALL_BEHIND + 1)
			value = behind[1];
		else if (from == SYSCALL_BEHIND + 2)
			value = behind[2];
		else
			value = argument(regs, from);
		if (row->arg[a].number)
			c->number[a][class_of(value) % TRACE_CLASSES] += 1;
		else
			count_value(c, i, a, from < SYSCALL_BEHIND ? (__u32)value : value);
	}
}

static __always_inline void count_call(__u32 i, struct pt_regs *regs, long ret)
{
	struct trace_counts *c = bpf_map_lookup_elem(&counts, &i);
	__u32 error = ret < 0 ? (__u32)-ret : 0;

	if (!c)
		return;
	if (error >= ERRNO_RESTARTS)
		error = EINTR;
	c->made += 1;
	if (error < TRACE_ERRNOS)
		c->error[error] += 1;
	else
		__sync_fetch_and_add(&lost, 1);
	if (!error)
		c->returned[class_of(ret) % TRACE_CLASSES] += 1;
	count_args(c, i, regs);
}
