/* capability.c -- file capabilities: from text to the value of their attribute. */
#include "op/capability.h"

#include <endian.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>

#include "base/must.h"

_Static_assert((int)BYTES_OF_CAPABILITY == (int)XATTR_CAPS_SZ_2, "a value of revision 2");

static const char *const capability_names[] = {
	[CAP_CHOWN] = "cap_chown",
	[CAP_DAC_OVERRIDE] = "cap_dac_override",
	[CAP_DAC_READ_SEARCH] = "cap_dac_read_search",
	[CAP_FOWNER] = "cap_fowner",
	[CAP_KILL] = "cap_kill",
	[CAP_SETUID] = "cap_setuid",
	[CAP_NET_BIND_SERVICE] = "cap_net_bind_service",
	[CAP_NET_RAW] = "cap_net_raw",
	[CAP_SYS_ADMIN] = "cap_sys_admin",
	[CAP_SETFCAP] = "cap_setfcap",
	[CAP_BPF] = "cap_bpf",
};

/* The number of a name, or -1. */
static int capability_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(capability_names); i++)
		if (capability_names[i] && strlen(capability_names[i]) == len &&
		    !memcmp(capability_names[i], name, len))
			return (int)i;
	return -1;
}

/* The names in front of '=', as bits. */
static bool capability_bits(const char *text, size_t len, uint64_t *ret)
{
	uint64_t bits = 0;
	size_t at = 0, end;
	int number;

	for (; at < len; at = end + 1) {
		end = at + strcspn(text + at, ",=");
		number = capability_by_name(text + at, end - at);
		if (number < 0)
			return false;
		bits |= (uint64_t)1 << number;
	}
	*ret = bits;
	return true;
}

void capability_to_value(const char *text, char to[BYTES_OF_CAPABILITY])
{
	struct vfs_cap_data value = { 0 };
	size_t names = strcspn(text, "=");
	const char *letters = text + names + (text[names] == '=');
	uint64_t bits;

	if (text[names] == '=' && strspn(letters, "epi") == strlen(letters) &&
	    capability_bits(text, names, &bits)) {
		value.magic_etc = htole32(VFS_CAP_REVISION_2 |
					  (strchr(letters, 'e') ? VFS_CAP_FLAGS_EFFECTIVE : 0));
		for (unsigned i = 0; i < VFS_CAP_U32_2; i++) {
			uint32_t word = htole32((uint32_t)(bits >> 32 * i));

			value.data[i].permitted = strchr(letters, 'p') ? word : 0;
			value.data[i].inheritable = strchr(letters, 'i') ? word : 0;
		}
	}
	memcpy(to, &value, BYTES_OF_CAPABILITY);
}

enum capability_form capability_form_of(const char *bytes, size_t len)
{
	uint32_t magic;

	if (len < sizeof(magic))
		return CAPABILITY_NONE;
	memcpy(&magic, bytes, sizeof(magic));
	magic = le32toh(magic) & ~(uint32_t)VFS_CAP_FLAGS_EFFECTIVE;
	if (len == XATTR_CAPS_SZ_2 && magic == VFS_CAP_REVISION_2)
		return CAPABILITY_PLAIN;
	if (len == XATTR_CAPS_SZ_3 && magic == VFS_CAP_REVISION_3)
		return CAPABILITY_OF_ROOT;
	return CAPABILITY_NONE;
}
