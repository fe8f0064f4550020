/* cmd_check.c -- `assay check`: judges traces. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cmd/command.h"
#include "cmd/files.h"
#include "cmd/model_options.h"
#include "model/check.h"

static struct settings {
	struct model_options model;
	bool rules, json;
} settings = { .model = MODEL_OPTIONS_DEFAULT };

static const struct opt opts[] = {
	MODEL_OPTIONS(struct settings, model),
	{ .name = "rules",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct settings, rules),
	  .help = "also prints the rules that speak against what was seen" },
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct settings, json),
	  .help = "prints one JSON object instead" },
	OPT_END,
};
