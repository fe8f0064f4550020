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

/* negative, 0, 1, 2, 2..4, 4, ... as the partitions of numbers are. (Not static: its 64 ways are
 * looked at once.) */
__noinline __u32 class_of(__s64 n)
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
	if (bpf_probe_read_user(&piece, sizeof(piece), (void *)(sum->pieces + i * sizeof(piece)))) {
		sum->failed = true;
		return 1;
	}
	sum->total += piece.iov_len;
	return 0;
}

/* All arguments, and what SPECIAL finds behind a pointer; false where that cannot be read. */
static __always_inline bool read_values(__u8 special, struct pt_regs *regs,
					__u64 value[SYSCALL_VALUES])
{
	__u64 *behind = value + SYSCALL_BEHIND;
	struct trace_sum sum;
	__u32 word;

	for (int i = 0; i < SYSCALL_BEHIND; i++)
		value[i] = call_argument(regs, i);
	behind[0] = behind[1] = behind[2] = 0;
	switch (special) {
	case SPECIAL_HOW:
		return !bpf_probe_read_user(behind, 24, (void *)value[2]);
	case SPECIAL_WORD:
		if (bpf_probe_read_user(&word, sizeof(word), (void *)value[2]))
			return false;
		behind[0] = word;
		return true;
	case SPECIAL_VECTOR:
		sum = (struct trace_sum){ .pieces = value[1], .count = value[2] };
		if (sum.count > UIO_MAXIOV)
			return false;
		bpf_loop(UIO_MAXIOV, add_piece, &sum, 0);
		behind[0] = sum.total;
		return !sum.failed;
	default:
		return true;
	}
}

static __always_inline void count_apart(const struct trace_value *key)
{
	__u64 *count = bpf_map_lookup_elem(&values, key), one = 1;

	if (count)
		*count += 1;
	else if (bpf_map_update_elem(&values, key, &one, BPF_ANY))
		__sync_fetch_and_add(&lost, 1);
}

/* Where another value has its seat, it is counted apart. */
static __always_inline void count_value(struct trace_seat *seats, __u32 row, __u32 arg, __u64 value)
{
	struct trace_seat *seat = &seats[(value * 0x9e3779b97f4a7c15) >> (64 - TRACE_SEATS_LOG)];

	if (seat->value == value || !seat->count) {
		seat->value = value;
		seat->count += 1;
	} else {
		count_apart(&(struct trace_value){ .row = row, .arg = arg, .value = value });
	}
}

static __always_inline void count_args(struct trace_counts *c, __u32 i, struct pt_regs *regs)
{
	const volatile struct trace_row *row = row_at(i);
	__u64 value[SYSCALL_VALUES], v, first = 0;

	if (!row->args || !read_values(row->special, regs, value))
		return;
	for (__u32 a = 0; a < TRACE_ARGS && a < row->args; a++) {
		__u8 from = row->arg[a].from;

		if (from >= SYSCALL_VALUES)
			return;
		v = value[from];
		if (!a)
			first = v;
		if (a == 1 && row->makes && !(first & O_MAKES))
			continue; /* the mode is whatever was in the register */
		if (row->arg[a].number)
			c->arg[a].number[class_of(v) % TRACE_CLASSES] += 1;
		else
			count_value(c->arg[a].seat, i, a, from < SYSCALL_BEHIND ? (__u32)v : v);
	}
}

static __always_inline void count_call(__u32 i, struct pt_regs *regs, long ret)
{
	struct trace_counts *c = bpf_map_lookup_elem(&counts, &i);
	__u64 error = -ret;

	if (!c)
		return;
	if (ret >= 0)
		c->returned[class_of(row_at(i)->sized ? ret : 0) % TRACE_CLASSES] += 1;
	else if (error >= ERRNO_RESTARTS)
		c->error[EINTR] += 1;
	else if (error < TRACE_ERRNOS)
		c->error[error] += 1;
	else
		__sync_fetch_and_add(&lost, 1);
	count_args(c, i, regs);
}
