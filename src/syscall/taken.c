/* taken.c -- where taken file handles are kept. */
#include "syscall/taken.h"

#include <string.h>
#include <sys/mman.h>

#include "op/handle.h"

static union taken_handle own_handles[HANDLES_MAX];
static union taken_handle *handles = own_handles;

union taken_handle *handle_taken(int64_t number)
{
	return &handles[handle_slot(number)];
}

void handles_share(void)
{
	void *at;

	if (handles != own_handles)
		return;
	at = mmap(NULL, sizeof(own_handles), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		  0);
	if (at != MAP_FAILED)
		handles = at;
}

void handles_forget(void)
{
	memset(handles, 0, sizeof(own_handles));
}
