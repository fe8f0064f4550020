/* repro_race.c -- calls that overlap, as a C program that makes them at once, again and again.
 *
 * The program has no model: it makes the calls in every order, one behind the other, and remembers
 * what came of it. Then processes make them at once, each on its own processor and with a random
 * delay. What none of the orders gave is counted. */
#include "finding/repro.h"

#include "op/op.h"

static void race_put_head(const struct finding *f, struct buf *out)
{
	buf_adds(out, "/* race.c -- ");
	repro_comment(buf_str(&f->discrepancy.title), 300, out);
	buf_adds(out, "\n *\n * Found on ");
	repro_comment(buf_str(&f->target), 300, out);
	buf_adds(out, ", under a schedule. Compile with cc alone; give it an empty\n"
		      " * directory of the file system under test and, if need be, how many rounds "
		      "to try.\n"
		      " * Exit status 1: in some rounds no order of the calls explains what came "
		      "of them;\n"
		      " * 0: in none; 2: the calls before went differently. */\n");
}

static void race_put_nothing(const struct repro *r, const struct finding *f, struct buf *out)
{
}

/* What a call returned besides its number, as far as calls at once promise it. */
static void race_put_details(struct repro *r, const struct call *c)
{
	switch (op_table[c->op].result) {
	case RESULT_BYTES:
	case RESULT_TARGET:
	case RESULT_NAMES:
		repro_mentions(r, "got");
		buf_adds(r->out, "\t\tdetails = error ? 0 : digest(0, got, (size_t)result);\n");
		break;
	case RESULT_STAT:
		if (op_table[c->op].base == OP_stat && c->op != OP_statx)
			buf_adds(r->out,
				 "\t\tdetails = error ? 0 : digest(st.st_mode, &st.st_size, "
				 "sizeof(st.st_size));\n");
		break;
	default:
		break;
	}
}

static void race_put_calls(struct repro *r, const struct finding *f)
{
	size_t first = f->count - f->overlaps;
	unsigned processes = 0;

	buf_adds(r->out, "static const int process_of[CALLS] = {");
	for (size_t i = first; i < f->count; i++) {
		buf_addf(r->out, "%s %d", i > first ? "," : "", f->calls[i].pid - 2);
		processes = f->calls[i].pid > processes ? f->calls[i].pid : processes;
	}
	buf_addf(r->out, " };\nenum { PROCESSES = %u };\n\n", processes - 1);
	buf_adds(r->out, "static void make(int call)\n{\n\tdetails = 0;\n\tswitch (call) {\n");
	for (size_t i = first; i < f->count; i++) {
		buf_addf(r->out, "\tcase %zu:\n\t\tanswer(", i - first);
		repro_call(r, &f->calls[i], NULL);
		buf_adds(r->out, ");\n");
		race_put_details(r, &f->calls[i]);
		buf_adds(r->out, "\t\tbreak;\n");
	}
	buf_adds(r->out, "\t}\n}\n\n");
}

static void race_put_body(struct repro *r, const struct finding *f)
{
	repro_mentions(r, "answer need CALL");
	buf_addf(r->out, "enum { CALLS = %zu, ROOTED = %d };\n\n", f->overlaps, r->rooted);
	buf_adds(r->out,
		 "static uint64_t details; /* of the last call */\n\n"
		 "static uint64_t digest(uint64_t hash, const void *bytes, size_t size)\n{\n"
		 "	for (size_t i = 0; i < size; i++)\n"
		 "		hash = (hash ^ ((const unsigned char *)bytes)[i]) * "
		 "0x100000001b3;\n"
		 "	return hash * 0x9e3779b97f4a7c15 + 1;\n}\n\n"
		 "static void prepare(void)\n{\n	umask(022);\n");
	for (size_t i = 0; i + f->overlaps < f->count; i++) {
		buf_adds(r->out, "\tCALL(");
		repro_call(r, &f->calls[i], NULL);
		buf_adds(r->out, ", 0);\n");
	}
	buf_adds(r->out, "}\n\n");
	race_put_calls(r, f);
}

static const char race_main[] =
	"enum { ORDERS_MAX = 1024, ROUNDS = 10000, HANG_SECONDS = 60, DELAY_MAX = 4000 };\n"
	"\n"
	"/* What came of the calls: returns, and the tree. */\n"
	"struct seen {\n"
	"	long result[CALLS];\n"
	"	int error[CALLS];\n"
	"	uint64_t details[CALLS], tree;\n"
	"};\n"
	"\n"
	"static struct shared {\n"
	"	_Atomic int ready, go;\n"
	"	struct seen seen;\n"
	"} *shared;\n"
	"static struct seen orders[ORDERS_MAX];\n"
	"static int order_count;\n"
	"static uint64_t tree;\n"
	"\n"
	"static int add_object(const char *path, const struct stat *s, int type, struct FTW *at)\n"
	"{\n"
	"	char bytes[4096];\n"
	"	uint64_t hash = digest(s->st_mode, path, strlen(path));\n"
	"	ssize_t len;\n"
	"	int file;\n"
	"\n"
	"	if (type == FTW_F) {\n"
	"		hash = digest(hash + s->st_nlink, &s->st_size, sizeof(s->st_size));\n"
	"		file = open(path, O_RDONLY | O_NONBLOCK);\n"
	"		while (S_ISREG(s->st_mode) && file >= 0 && (len = read(file, bytes, "
	"sizeof(bytes))) > 0)\n"
	"			hash = digest(hash, bytes, (size_t)len);\n"
	"		close(file);\n"
	"	}\n"
	"	len = listxattr(path, bytes, sizeof(bytes));\n"
	"	for (char *name = bytes; len > 0 && name < bytes + len; name += strlen(name) + 1) "
	"{\n"
	"		char value[4096];\n"
	"		ssize_t size = getxattr(path, name, value, sizeof(value));\n"
	"\n"
	"		if (!strncmp(name, \"user.\", 5))\n"
	"			tree += digest(hash + digest(1, name, strlen(name)), value, size > "
	"0 ? (size_t)size : 0);\n"
	"	}\n"
	"	tree += hash;\n"
	"	return 0;\n"
	"}\n"
	"\n"
	"static int remove_object(const char *path, const struct stat *s, int type, struct FTW "
	"*at)\n"
	"{\n"
	"	return remove(path);\n"
	"}\n"
	"\n"
	"static void note(int call)\n"
	"{\n"
	"	make(call);\n"
	"	shared->seen.result[call] = error ? -1 : result;\n"
	"	shared->seen.error[call] = error;\n"
	"	shared->seen.details[call] = details;\n"
	"}\n"
	"\n"
	"static void race(int process, unsigned delay)\n"
	"{\n"
	"	cpu_set_t cpu;\n"
	"\n"
	"	CPU_ZERO(&cpu);\n"
	"	CPU_SET((unsigned)process % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &cpu);\n"
	"	sched_setaffinity(0, sizeof(cpu), &cpu);\n"
	"	shared->ready++;\n"
	"	while (!shared->go)\n"
	"		;\n"
	"	for (volatile unsigned i = 0; i < delay; i++)\n"
	"		;\n"
	"	for (int i = 0; i < CALLS; i++)\n"
	"		if (process_of[i] == process)\n"
	"			note(i);\n"
	"	_exit(0);\n"
	"}\n"
	"\n"
	"/* The calls in a fresh directory: in that order, or at once. */\n"
	"static int play(const int *order)\n"
	"{\n"
	"	if (mkdir(\"race\", 0777) || chdir(\"race\") || (ROOTED && chroot(\".\")))\n"
	"		return 2;\n"
	"	prepare();\n"
	"	fflush(stdout);\n"
	"	for (int i = 0; order && i < CALLS; i++)\n"
	"		note(order[i]);\n"
	"	for (int i = 0; !order && i < PROCESSES; i++) {\n"
	"		unsigned delay = (unsigned)rand() % DELAY_MAX;\n"
	"\n"
	"		if (!fork())\n"
	"			race(i, delay);\n"
	"	}\n"
	"	while (!order && shared->ready < PROCESSES)\n"
	"		;\n"
	"	shared->go = 1;\n"
	"	while (!order && wait(NULL) > 0)\n"
	"		;\n"
	"	nftw(\".\", add_object, 16, FTW_PHYS);\n"
	"	shared->seen.tree = tree;\n"
	"	return 0;\n"
	"}\n"
	"\n"
	"/* By a process, whose files are closed when it ends. */\n"
	"static void play_round(const int *order, unsigned seed)\n"
	"{\n"
	"	int status;\n"
	"	pid_t child;\n"
	"\n"
	"	memset(shared, 0, sizeof(*shared));\n"
	"	child = fork();\n"
	"	if (!child) {\n"
	"		srand(seed);\n"
	"		alarm(HANG_SECONDS);\n"
	"		_exit(play(order));\n"
	"	}\n"
	"	if (child < 0 || waitpid(child, &status, 0) != child || (WIFEXITED(status) && "
	"WEXITSTATUS(status)))\n"
	"		exit(2);\n"
	"	if (WIFSIGNALED(status)) {\n"
	"		printf(\"the calls do not return\\n\");\n"
	"		exit(1);\n"
	"	}\n"
	"	nftw(\"race\", remove_object, 16, FTW_DEPTH | FTW_PHYS);\n"
	"}\n"
	"\n"
	"static int is_known(void)\n"
	"{\n"
	"	for (int i = 0; i < order_count; i++)\n"
	"		if (!memcmp(&orders[i], &shared->seen, sizeof(orders[i])))\n"
	"			return 1;\n"
	"	return 0;\n"
	"}\n"
	"\n"
	"/* All orders in which the processes can make their calls, one behind the other. */\n"
	"static void learn(int *order, int count, unsigned made)\n"
	"{\n"
	"	if (count == CALLS) {\n"
	"		play_round(order, 0);\n"
	"		if (!is_known() && order_count < ORDERS_MAX)\n"
	"			orders[order_count++] = shared->seen;\n"
	"	}\n"
	"	for (int process = 0; process < PROCESSES; process++)\n"
	"		for (int i = 0; i < CALLS; i++) {\n"
	"			if (process_of[i] != process || made >> i & 1)\n"
	"				continue;\n"
	"			order[count] = i;\n"
	"			learn(order, count + 1, made | 1U << i);\n"
	"			break;\n"
	"		}\n"
	"}\n"
	"\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	int order[CALLS + 1];\n"
	"	long rounds = argc > 2 ? atol(argv[2]) : ROUNDS, odd = 0;\n"
	"\n"
	"	if (argc < 2 || chdir(argv[1])) {\n"
	"		fprintf(stderr, \"usage: %s DIRECTORY [ROUNDS]\\n\", argv[0]);\n"
	"		return 2;\n"
	"	}\n"
	"	umask(0);\n"
	"	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | "
	"MAP_ANONYMOUS, -1, 0);\n"
	"	if (shared == MAP_FAILED)\n"
	"		return 2;\n"
	"	learn(order, 0, 0);\n"
	"	for (long i = 0; i < rounds; i++) {\n"
	"		play_round(NULL, (unsigned)i);\n"
	"		if (is_known())\n"
	"			continue;\n"
	"		for (int call = 0; !odd && call < CALLS; call++)\n"
	"			printf(\"call %d of process %d: %ld, %s\\n\", call + 1, "
	"process_of[call] + 2,\n"
	"			       shared->seen.result[call], "
	"strerror(shared->seen.error[call]));\n"
	"		odd++;\n"
	"	}\n"
	"	printf(\"%ld of %ld rounds: no order of the calls explains what came of them\\n\", "
	"odd, rounds);\n"
	"	shown = odd > 0;\n"
	"	return shown;\n"
	"}\n";

static void race_put_main(const struct repro *r, const struct finding *f, struct buf *out)
{
	buf_adds(out, race_main);
}

static const struct repro_frame frame_race = {
	.head = race_put_head,
	.body = race_put_body,
	.begin = race_put_nothing,
	.end = race_put_main,
};

void finding_race_c(const struct finding *f, struct buf *out)
{
	repro_program(f, &frame_race, out);
}
