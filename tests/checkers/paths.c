/* paths.c -- small checkers whose numbers of paths are known, to test the exploration of paths.
 *
 *	paths MODE IMAGE
 *
 * The symbolic bytes are the first of the image. Every path ends in a call that the compiler cannot
 * merge with another. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int disk;
static union {
	uint8_t bytes[512];
	int32_t number;
	uint32_t u32;
	uint64_t u64;
} in;

static __attribute__((noinline, noclone, noreturn)) void leave(int code)
{
	__asm__ volatile("" ::: "memory");
	exit(code);
}

/* 8 cases in a table of jumps, and the default: 9. */
static void dense_switch(void)
{
	switch (in.bytes[0]) {
	case 0:
		leave(10);
	case 1:
		leave(11);
	case 2:
		leave(12);
	case 3:
		leave(13);
	case 4:
		leave(14);
	case 5:
		leave(15);
	case 6:
		leave(16);
	case 7:
		leave(17);
	default:
		leave(18);
	}
}

/* 5. */
static void nested(void)
{
	if (in.u32 < 1000) {
		if (in.u32 == 77)
			leave(1);
		if (in.u32 < 10)
			leave(2);
		leave(3);
	}
	if (in.u32 > 0xfffffff0u)
		leave(4);
	leave(5);
}

/* 8: from no to 7 rounds. */
static void loop(void)
{
	volatile int rounds = 0;

	for (int i = 0; i < (in.bytes[0] & 7); i++)
		rounds++;
	leave(rounds);
}

/* 4 classes. */
static void table(void)
{
	static uint8_t class[256];

	for (int i = 0; i < 256; i++)
		class[i] = (uint8_t)(i < 32 ? 0 : i < 127 ? 1 : i == 200 ? 3 : 2);
	if (class[in.bytes[0]] == 0)
		leave(1);
	if (class[in.bytes[0]] == 1)
		leave(2);
	if (class[in.bytes[0]] == 3)
		leave(3);
	leave(4);
}

/* 3: by zero, above, and not. */
static void division(void)
{
	volatile uint32_t thousand = 1000;

	if (thousand / in.bytes[0] > 100)
		leave(1);
	leave(2);
}

/* 3: signed, and a remainder by a constant. */
static void remainder_of(void)
{
	if (in.number % 7 == 3)
		leave(1);
	if (in.number / 10 == -5)
		leave(2);
	leave(3);
}

/* 3: a product that does not fit, and one that does. */
static void overflow(void)
{
	uint64_t product;

	if (__builtin_mul_overflow(in.u64, UINT64_C(12345), &product))
		leave(1);
	if (product == 24690)
		leave(2);
	leave(3);
}

/* 4: the highest bit, by an instruction for it. */
static void highest_bit(void)
{
	if (in.u32 == 0)
		leave(1);
	if (__builtin_clz(in.u32) == 3)
		leave(2);
	if (__builtin_ctz(in.u32) > 20)
		leave(3);
	leave(4);
}

/* 2: right or wrong. */
static void checksum(void)
{
	uint8_t sum = 0x5a;

	for (int i = 0; i < 7; i++)
		sum = (uint8_t)(sum * 31 + in.bytes[i]);
	if (sum == in.bytes[7])
		leave(1);
	leave(2);
}

/* 4. */
static void wide(void)
{
	uint64_t scaled = in.u64 * 3 + 7;

	if (in.u64 > UINT64_C(0x1000000000000000))
		leave(1);
	if (scaled == UINT64_C(3000000000007))
		leave(2);
	if ((in.u64 >> 40) == 0xabc)
		leave(3);
	leave(4);
}

/* 4. */
static void signs(void)
{
	if (in.number < -1000)
		leave(1);
	if (in.number < 0)
		leave(2);
	if (in.number <= 100)
		leave(3);
	leave(4);
}

/* 5: the first of 4 bytes that differs, or none. */
static void word(void)
{
	static const uint8_t magic[4] = { 'a', 's', 's', 'y' };

	for (int i = 0; i < 4; i++) {
		if (in.bytes[i] != magic[i])
			leave(i);
	}
	leave(9);
}

/* 3: what was written to the disk is read back; the next run finds the disk as it was. */
static void through_disk(void)
{
	uint8_t back[2] = { (uint8_t)(in.bytes[0] + 1), 1 }, old;

	if (pread(disk, &old, 1, 4096) != 1 || old != 0)
		leave(99);
	if (pwrite(disk, back, 2, 4096) != 2 || pread(disk, back, 2, 4096) != 2)
		leave(98);
	if (back[0] == 5)
		leave(1);
	if (back[0] == 0)
		leave(2);
	leave(3);
}

/* 1: what printf() compares is no path. */
static void prints(void)
{
	printf("%d\n", in.number);
	leave(0);
}

/* The bytes are not looked at: 1. */
static void ignores(void)
{
	leave(0);
}

/* Not complete: floating point is not modelled. */
static void fraction(void)
{
	volatile double third = in.number / 3.0;

	leave(third > 1.5 ? 1 : 2);
}

/* Not complete: more addresses than are tried, each of which is a path. */
static void far(void)
{
	static volatile uint8_t field[1 << 24];

	if (field[in.u32 & 0xffffff])
		leave(1);
	leave(2);
}

/* Not complete: one of two runs never ends. */
static void endless(void)
{
	while (in.bytes[0] == 7)
		__asm__ volatile("" ::: "memory");
	leave(0);
}

static const struct {
	const char *name;
	void (*check)(void);
} modes[] = {
	{ "switch", dense_switch }, { "nested", nested },     { "loop", loop },
	{ "table", table },         { "division", division }, { "remainder", remainder_of },
	{ "checksum", checksum },   { "wide", wide },         { "signs", signs },
	{ "word", word },           { "disk", through_disk }, { "prints", prints },
	{ "ignores", ignores },     { "fraction", fraction }, { "far", far },
	{ "endless", endless },     { "overflow", overflow }, { "bit", highest_bit },
};

int main(int count, char **words)
{
	disk = count > 2 ? open(words[2], O_RDWR) : -1;
	if (disk < 0 || pread(disk, in.bytes, sizeof(in.bytes), 0) != sizeof(in.bytes))
		return 100;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcmp(words[1], modes[i].name))
			modes[i].check();
	}
	return 101;
}
