/* directory.c -- the root directory of a test as it is at the beginning. */
#include "storage/directory.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "storage/remove_tree.h"

int directory_reset(int dir_fd, unsigned mode, struct err *err)
{
	struct stat st;

	remove_attributes(dir_fd);
	if (fstat(dir_fd, &st))
		return err_sys(err, errno, "cannot look at the directory of the test");
	if ((st.st_uid != geteuid() || st.st_gid != getegid()) &&
	    fchown(dir_fd, geteuid(), getegid()))
		return err_sys(err, errno, "cannot own the directory of the test");
	if (fchmod(dir_fd, mode))
		return err_sys(err, errno, "cannot set the mode of the test's directory");
	return 0;
}
