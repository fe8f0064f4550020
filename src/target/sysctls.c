/* sysctls.c -- fs.protected_*, between a kernel and the traits of a target. */
#include "target/sysctls.h"

#include "base/buf.h"
#include "base/err.h"
#include "model/model.h"

/* systemd's sysctl.d/50-default.conf and those of the distributions without it. */
enum { SYSCTL_USUAL = 1, SYSCTL_LENGTH_MAX = 64 };

static uint64_t sysctl_read(const char *path)
{
	struct buf text = BUF_INIT;
	struct err why = { 0 };
	uint64_t value = SETTING_UNKNOWN;

	if (!buf_read_file(&text, path, SYSCTL_LENGTH_MAX, &why) && text.len &&
	    text.data[0] >= '0' && text.data[0] < '0' + SETTING_UNKNOWN)
		value = (uint64_t)(text.data[0] - '0');
	buf_free(&text);
	return value;
}

void sysctls_read(struct traits *traits)
{
#define ROW(name) traits->name = sysctl_read("/proc/sys/fs/" #name);
	SYSCTLS(ROW)
#undef ROW
}

static uint8_t sysctl_choose(uint64_t *setting)
{
	if (*setting >= SETTING_UNKNOWN)
		*setting = SYSCTL_USUAL;
	return (uint8_t)*setting;
}

void sysctls_choose(struct traits *traits, uint8_t ret[SYSCTL_COUNT])
{
#define ROW(name) ret[SYSCTL_##name] = sysctl_choose(&traits->name);
	SYSCTLS(ROW)
#undef ROW
}
