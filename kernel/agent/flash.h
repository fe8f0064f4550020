// SPDX-License-Identifier: GPL-2.0
/* flash.h -- the simulated flash memory as one volume of UBI, for file systems that want one. */
#ifndef AGENT_FLASH_H
#define AGENT_FLASH_H

#include <stdbool.h>

struct err;

/* To be mounted as ubi0:FLASH_VOLUME, which is made where the memory is blank. */
#define FLASH_VOLUME "all"
int flash_attach(bool blank, struct err *err);

#endif
