// SPDX-License-Identifier: GPL-2.0
/*
 * flash.c -- NOR flash in memory: erasing a block sets all its bits, programming bytes clears some,
 * and both are done when the call returns.
 */
#include <linux/mtd/mtd.h>

#include "assay.h"
#include "medium.h"

static int flash_erase(struct mtd_info *mtd, struct erase_info *erase)
{
	if (mtd_mod_by_eb(erase->addr, mtd) || mtd_mod_by_eb(erase->len, mtd))
		return -EINVAL;
	medium_writes(erase->addr, erase->len);
	memset(medium_at(erase->addr), 0xff, erase->len);
	medium_record(ASSAY_RECORD_ERASE, erase->addr, erase->len);
	return 0;
}

static int flash_read(struct mtd_info *mtd, loff_t from, size_t len, size_t *ret_len, u_char *to)
{
	medium_reads(from, len);
	memcpy(to, medium_at(from), len);
	*ret_len = len;
	return 0;
}

static int flash_program(struct mtd_info *mtd, loff_t to, size_t len, size_t *ret_len,
			 const u_char *from)
{
	u8 *at = medium_at(to);
	size_t i;

	medium_changes(to, len);
	for (i = 0; i < len; i++)
		at[i] &= from[i];
	medium_record(ASSAY_RECORD_WRITE | ASSAY_RECORD_PROGRAM, to, len);
	*ret_len = len;
	return 0;
}

static struct mtd_info flash = {
	.name = "flash",
	.type = MTD_NORFLASH,
	.flags = MTD_CAP_NORFLASH,
	.erasesize = ASSAY_FLASH_ERASE_BYTES,
	.writesize = ASSAY_FLASH_WRITE_BYTES,
	.writebufsize = 64,
	._erase = flash_erase,
	._read = flash_read,
	._write = flash_program,
};

int assay_flash_add(void)
{
	int error = medium_begin();

	if (error)
		return error;
	flash.size = assay_medium_size();
	return mtd_device_register(&flash, NULL, 0);
}
