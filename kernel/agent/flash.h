// SPDX-License-Identifier: GPL-2.0
/* flash.h -- the simulated flash memory as one volume of UBI, for file systems that want one. */
#ifndef AGENT_FLASH_H
#define AGENT_FLASH_H

struct err;

/* To be mounted as ubi0:FLASH_VOLUME. */
#define FLASH_VOLUME "all"
int flash_make_volume(struct err *err);

#endif
