/* capability.c -- what this process may do. */
#include "process/capability.h"

bool capability_has(cap_value_t capability)
{
	cap_t own = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR;

	if (!own)
		return false;
	if (cap_get_flag(own, capability, CAP_EFFECTIVE, &value))
		value = CAP_CLEAR; /* one that this kernel does not know */
	cap_free(own);
	return value == CAP_SET;
}
