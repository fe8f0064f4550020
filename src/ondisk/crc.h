/* crc.h -- the cyclic redundancy checks of file systems. No bits are inverted before or after. */
#ifndef ONDISK_CRC_H
#define ONDISK_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Castagnoli, low bit first: ext4, jbd2, xfs, btrfs. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);
/* Ethernet, low bit first: f2fs. */
uint32_t crc32_le(uint32_t crc, const void *data, size_t len);
/* Ethernet, high bit first: whole transactions of a jbd2 journal. */
uint32_t crc32_be(uint32_t crc, const void *data, size_t len);
/* 0x8005, low bit first: group descriptors of ext4 without metadata_csum. */
uint16_t crc16(uint16_t crc, const void *data, size_t len);

#endif
