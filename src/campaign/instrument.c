/* instrument.c -- the table of instruments of a campaign. */
#include "campaign/instrument.h"

#include <stddef.h>

#include "target/target.h"

const struct instrument instrument_table[INSTRUMENT_COUNT] = {
	{
		.name = "explore",
		.command = "explore",
		.timed = true,
		.resumes = true,
		.states = "states",
	},
	{
		.name = "conform",
		.command = "conform",
		.in_parts = true,
		.ends = true,
		.states = "scripts",
	},
	{
		.name = "crash",
		.command = "crash",
		.needs = TARGET_RECORD,
		.timed = true,
		.states = "unique_images",
	},
	{
		.name = "fsck",
		.command = "fsck",
		.timed = true,
		.of_checkers = true,
		.states = "behaviours",
		.code = "paths",
	},
	{
		.name = "races",
		.command = "conform",
		.words = { "--races" },
		.of_racers = true,
		.in_parts = true,
		.states = "scripts",
	},
	{
		.name = "schedules",
		.command = "conform",
		.words = { "--races", "--preemptions=1" },
		.of_kernels = true,
		.in_parts = true,
		.ends = true,
		.states = "schedules",
	},
};
