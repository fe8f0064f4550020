/* toy.c -- a checker of a disk that is right where byte 4096 is 1; it can behave in many bad ways.
 *
 *	toy BEHAVIOUR IMAGE
 *
 * It exits 0 where nothing was wrong, 1 where it has corrected the byte. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AT = 4096, RIGHT = 1, SIZE = 64 << 10 };

static int fd;

static unsigned char toy_read(void)
{
	unsigned char byte = 0;

	if (pread(fd, &byte, 1, AT) != 1)
		exit(8);
	return byte;
}

static void toy_write(unsigned char byte)
{
	if (pwrite(fd, &byte, 1, AT) != 1)
		exit(8);
}

static int toy_repair(void)
{
	static int runs; /* of this process: every one is the first */

	if (++runs > 1)
		return 99;
	printf("byte %d\n", toy_read());
	if (toy_read() == RIGHT)
		return 0;
	toy_write(RIGHT);
	return 1;
}

/* Leaves a process behind that outlives it and has left the session. */
static int toy_fork(void)
{
	if (!fork()) {
		setsid();
		for (;;)
			pause();
	}
	return toy_repair();
}

static int toy_fork_bomb(void)
{
	int started = 0;

	while (started < 10000) {
		pid_t pid = fork();

		if (!pid)
			for (;;)
				pause();
		if (pid < 0)
			break;
		started++;
	}
	return started < 10000 ? toy_repair() : 99;
}

/* The same without fork(): as many as the kernel allows. */
static int toy_raw_bomb(void)
{
	int started = 0;

	while (started < 2000) {
		long pid = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);

		if (!pid)
			for (;;)
				pause();
		if (pid < 0)
			break;
		started++;
	}
	return started < 2000 ? toy_repair() : 99;
}

static int toy_eat(void)
{
	const size_t chunk = 1 << 20;
	void *at;
	int chunks = 0;

	while (chunks < 1 << 14 && (at = malloc(chunk))) {
		memset(at, 1, chunk);
		chunks++;
	}
	printf("%d MiB\n", chunks);
	return chunks < 1 << 14 ? 8 : 99;
}

static int toy_spin(void)
{
	for (volatile int i = 0;; i++)
		;
	return 0;
}

static int toy_sleep(void)
{
	toy_repair();
	for (;;)
		pause();
	return 0;
}

static int toy_print(void)
{
	for (int i = 0; i < 1 << 20; i++)
		printf("and again, and again, and again\n");
	return 0;
}

static int toy_ask(void)
{
	char answer[8];

	printf("Fix? ");
	fflush(stdout);
	if (open("/dev/tty", O_RDWR) >= 0)
		return 99;
	return fgets(answer, sizeof(answer), stdin) ? 99 : 4;
}

static bool toy_can_make(const char *path)
{
	return open(path, O_CREAT | O_WRONLY, 0600) >= 0 || mkdir(path, 0700) == 0;
}

/* 0: nothing but the disk can be written to. */
static int toy_outside(const char *other)
{
	char beside[512];
	bool bad = false;

	snprintf(beside, sizeof(beside), "%s.toy", other);
	bad |= open(other, O_WRONLY) >= 0;
	bad |= toy_can_make(beside);
	bad |= toy_can_make("/tmp/assay-toy-checker");
	bad |= toy_can_make("/dev/shm/assay-toy-checker");
	bad |= !chmod(other, 0777) || !unlink(other) || !truncate(other, 0);
	return bad ? 99 : toy_repair();
}

static int toy_crash(void)
{
	toy_read();
	return *(volatile int *)8;
}

static void toy_on_signal(int number)
{
	printf("signal %d\n", number);
	exit(8);
}

static int toy_catch(void)
{
	signal(SIGSEGV, toy_on_signal);
	return toy_crash();
}

/* Past the library that it was started with. */
static int toy_raw(void)
{
	unsigned char byte = toy_read(), right = RIGHT;

	if (byte == RIGHT)
		return 0;
	syscall(SYS_pwrite64, fd, &right, 1L, (long)AT);
	return 1;
}

static int toy_stream(const char *path)
{
	FILE *disk = fopen(path, "r+");
	int byte;

	if (!disk || fseek(disk, AT, SEEK_SET))
		return 8;
	byte = getc(disk);
	fseek(disk, AT, SEEK_SET);
	if (byte == RIGHT)
		return 0;
	putc(RIGHT, disk);
	return fclose(disk) ? 8 : 1;
}

static int toy_map(void)
{
	unsigned char *disk = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (disk == MAP_FAILED)
		return 8;
	if (disk[AT] == RIGHT)
		return 0;
	disk[AT] = RIGHT;
	return 1;
}

static int toy_grow(void)
{
	struct stat st;

	if (pwrite(fd, "x", 1, 2 * SIZE) != 1 || fstat(fd, &st) || st.st_size != 2 * SIZE + 1)
		return 99;
	return pwrite(fd, "x", 1, (off_t)1 << 40) < 0 && errno == EFBIG ? toy_repair() : 99;
}

static int toy_shrink(void)
{
	return ftruncate(fd, AT) ? 99 : 1;
}

static void *toy_thread(void *own)
{
	*(int *)own = toy_repair();
	return NULL;
}

static int toy_threads(void)
{
	pthread_t thread;
	int code = 99;

	if (pthread_create(&thread, NULL, toy_thread, &code) || pthread_join(thread, NULL))
		return 99;
	return code;
}

/* What differs from run to run, if anything does. */
static int toy_vary(void)
{
	unsigned char random[4];

	if (getentropy(random, sizeof(random)))
		return 99;
	printf("%ld %d %02x%02x%02x%02x %p\n", (long)time(NULL), (int)getpid(), random[0],
	       random[1], random[2], random[3], malloc(100));
	return toy_repair();
}

/* Zeroes its page, and leaves a hole in the disk. */
static int toy_punch(void)
{
	if (toy_read() == RIGHT)
		return 0;
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, AT, AT) || toy_read() != 0)
		return 99;
	toy_write(RIGHT);
	return 1;
}

/* The same, past the library that it was started with. */
static int toy_raw_punch(void)
{
	int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	return syscall(SYS_fallocate, fd, (long)mode, (long)AT, (long)AT) ? 99 : 1;
}

/* Of a descriptor's offset, and of another that shares it. */
static int toy_seek(void)
{
	unsigned char bytes[2];
	int other = dup(fd);

	if (lseek(fd, AT - 1, SEEK_SET) != AT - 1 || read(other, bytes, 2) != 2 ||
	    lseek(fd, 0, SEEK_CUR) != AT + 1 || lseek(fd, 0, SEEK_END) != SIZE ||
	    read(fd, bytes, 2) != 0)
		return 99;
	return toy_repair();
}

/* Changes it, and changes it back. */
static int toy_back(void)
{
	unsigned char byte = toy_read();

	toy_write((unsigned char)~byte);
	toy_write(byte);
	return 0;
}

static void toy_at_exit(void)
{
	printf("at exit\n");
}

static int toy_handler(void)
{
	atexit(toy_at_exit);
	return toy_repair();
}

static int toy_behave(const char *how, const char *path)
{
	static const struct {
		const char *name;
		int (*behave)(void);
	} behaviours[] = {
		{ "repair", toy_repair },   { "fork", toy_fork },
		{ "bomb", toy_fork_bomb },  { "eat", toy_eat },
		{ "spin", toy_spin },       { "sleep", toy_sleep },
		{ "print", toy_print },     { "ask", toy_ask },
		{ "crash", toy_crash },     { "catch", toy_catch },
		{ "raw", toy_raw },         { "map", toy_map },
		{ "grow", toy_grow },       { "shrink", toy_shrink },
		{ "threads", toy_threads }, { "vary", toy_vary },
		{ "seek", toy_seek },       { "back", toy_back },
		{ "handler", toy_handler }, { "raw-bomb", toy_raw_bomb },
		{ "punch", toy_punch },     { "raw-punch", toy_raw_punch },
	};

	for (size_t i = 0; i < sizeof(behaviours) / sizeof(*behaviours); i++)
		if (!strcmp(how, behaviours[i].name))
			return behaviours[i].behave();
	if (!strcmp(how, "stream"))
		return toy_stream(path);
	return *how == '/' ? toy_outside(how) : 16;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 16;
	if (!strcmp(argv[1], "early")) /* ends before it opens the disk */
		return 16;
	fd = open(argv[2], !strcmp(argv[1], "check") ? O_RDONLY : O_RDWR);
	if (fd < 0)
		return 8;
	if (!strcmp(argv[1], "check")) {
		unsigned char byte = 0;

		if (pwrite(fd, "x", 1, 0) >= 0 || errno != EBADF)
			return 99;
		return pread(fd, &byte, 1, AT) == 1 && byte == RIGHT ? 0 : 4;
	}
	return toy_behave(argv[1], argv[2]);
}
