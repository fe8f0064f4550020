/* crc.c -- the cyclic redundancy checks of file systems. */
#include <pthread.h>

#include "ondisk/crc.h"

enum { SLICES = 8 };

/* A table for each of eight bytes that are taken at a time. */
static uint32_t crc32c_tables[SLICES][256];
static uint32_t crc32_le_table[256], crc32_be_table[256];
static uint16_t crc16_table[256];

static uint32_t crc_reflected(uint32_t byte, uint32_t polynomial)
{
	for (int bit = 0; bit < 8; bit++)
		byte = byte & 1 ? byte >> 1 ^ polynomial : byte >> 1;
	return byte;
}

static void crc_make_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t high = i << 24;

		crc32c_tables[0][i] = crc_reflected(i, 0x82f63b78);
		crc32_le_table[i] = crc_reflected(i, 0xedb88320);
		crc16_table[i] = crc_reflected(i, 0xa001);
		for (int bit = 0; bit < 8; bit++)
			high = high & 0x80000000 ? high << 1 ^ 0x04c11db7 : high << 1;
		crc32_be_table[i] = high;
	}
	for (int slice = 1; slice < SLICES; slice++)
		for (int i = 0; i < 256; i++) {
			uint32_t before = crc32c_tables[slice - 1][i];

			crc32c_tables[slice][i] = before >> 8 ^ crc32c_tables[0][before & 0xff];
		}
}

static void crc_tables(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, crc_make_tables);
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc_tables();
	for (; len >= SLICES; len -= SLICES, p += SLICES) {
		uint32_t next = 0;

		for (int i = 0; i < SLICES; i++)
			next ^= crc32c_tables[SLICES - 1 - i]
					     [p[i] ^ (i < 4 ? crc >> (8 * i) & 0xff : 0)];
		crc = next;
	}
	while (len--)
		crc = crc >> 8 ^ crc32c_tables[0][(crc ^ *p++) & 0xff];
	return crc;
}

uint32_t crc32_le(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc_tables();
	while (len--)
		crc = crc >> 8 ^ crc32_le_table[(crc ^ *p++) & 0xff];
	return crc;
}

uint32_t crc32_be(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc_tables();
	while (len--)
		crc = crc << 8 ^ crc32_be_table[crc >> 24 ^ *p++];
	return crc;
}

uint16_t crc16(uint16_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc_tables();
	while (len--)
		crc = crc >> 8 ^ crc16_table[(crc ^ *p++) & 0xff];
	return crc;
}
