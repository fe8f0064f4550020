/* fuzz_disk.c -- disks are walked, sealed and audited, or refused, whatever is on them.
 *
 * An input is a disk without its zeros: its size in sectors, and then, piece by piece, the sector
 * at which bytes begin, how many there are, and the bytes. All numbers are 32 bits, little-endian.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "audit/audit.h"
#include "base/must.h"
#include "ondisk/ondisk.h"

enum { SECTOR = 512, SECTORS_MAX = 1 << 17, NUMBER = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_pieces(uint8_t *disk, uint64_t disk_size, const uint8_t *data, size_t size)
{
	while (size >= 2 * NUMBER) {
		uint64_t at = ondisk_le(data, NUMBER) * SECTOR;
		uint64_t len = ondisk_le(data + NUMBER, NUMBER);

		data += 2 * NUMBER;
		size -= 2 * NUMBER;
		if (len > size || at > disk_size || len > disk_size - at)
			return;
		memcpy(disk + at, data, len);
		data += len;
		size -= len;
	}
}

/* Seals every instance as if it had been changed: no checksum is wrong then, but for those that
 * would be on a part of the disk that several checksums claim. */
static void seal_all(const struct ondisk_map *m, uint8_t *disk)
{
	for (size_t i = 0; i < m->count; i++) {
		must(m->instances[i].at + m->instances[i].size <= m->disk_size);
		ondisk_seal(m, disk, m->instances[i].at, m->instances[i].size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t sectors = size < NUMBER ? 0 : ondisk_le(data, NUMBER) % (SECTORS_MAX + 1);
	uint64_t disk_size = sectors * SECTOR;
	struct ondisk_map map;
	struct audit audit;
	uint8_t *disk;

	if (!sectors)
		return 0;
	disk = mmap(NULL, disk_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(disk != MAP_FAILED);
	put_pieces(disk, disk_size, data + NUMBER, size - NUMBER);
	audit_disk(&audit, disk, disk_size);
	must(audit.count <= AUDIT_RULES_MAX);
	if (!ondisk_read(&map, disk, disk_size, NULL)) {
		uint64_t wrong = ondisk_wrong_checksum(&map, disk);

		must(wrong == UINT64_MAX || wrong < disk_size);
		seal_all(&map, disk);
		ondisk_free(&map);
	}
	munmap(disk, disk_size);
	return 0;
}
