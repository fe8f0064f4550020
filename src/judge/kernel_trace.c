/* kernel_trace.c -- the function that a kernel log makes suspect. */
#include "judge/kernel_trace.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

/* Beginnings of functions that only report what others did, or that everyone calls. */
static const char *const skipped[] = {
	"dump_stack", "show_stack", "print_",     "kasan_",     "__kasan_",   "ubsan_",
	"__ubsan_",   "handle_bug", "__warn",     "warn_",      "report_bug", "panic",
	"die",        "exc_",       "asm_exc_",   "lockdep_",   "__lock_",    "lock_acquire",
	"kmem_",      "__kmem",     "kmalloc",    "__kmalloc",  "kvmalloc",   "krealloc",
	"slab_",      "___slab_",   "__slab_",    "__might_",   "mutex_",     "__mutex_",
	"down_",      "up_",        "schedule",   "__schedule", "_raw_",      "kmemleak_",
	"stack_",     "check_",     "end_report",
};

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static bool is_skipped(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(skipped); i++)
		if (len >= strlen(skipped[i]) && !strncmp(name, skipped[i], strlen(skipped[i])))
			return true;
	return false;
}

bool kernel_trace_function(const char *log, char ret[KERNEL_PLACE_MAX])
{
	for (const char *at = log; (at = strstr(at, "+0x")); at++) {
		const char *name = at;

		while (name > log && is_name_char(name[-1]))
			name--;
		if (name == at || isdigit((unsigned char)*name) ||
		    (name - log >= 2 && !strncmp(name - 2, "? ", 2)) ||
		    is_skipped(name, (size_t)(at - name)))
			continue;
		snprintf(ret, KERNEL_PLACE_MAX, "%.*s", (int)(at - name), name);
		return true;
	}
	*ret = '\0';
	return false;
}
