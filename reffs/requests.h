/* requests.h -- the handlers of FUSE requests, by subject. */
#ifndef REFFS_REQUESTS_H
#define REFFS_REQUESTS_H

#include "reffs/request.h"

/* names.c */
void front_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void front_forget(fuse_req_t req, fuse_ino_t ino, uint64_t times);
void front_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
void front_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void front_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev);
void front_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name);
void front_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name);
void front_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void front_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void front_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
		  const char *new_name, unsigned flags);
void front_readlink(fuse_req_t req, fuse_ino_t ino);
void front_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		  struct fuse_file_info *fi);
/* Not by way of libfuse: returns 0 or an errno. */
int front_tmpfile(struct front *f, const struct requester *caller, fuse_ino_t parent, mode_t mode,
		  struct stat *ret);
/* The reply with the object did not reach the kernel. */
void front_tmpfile_lost(struct front *f, uint64_t ino);
void front_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		   struct fuse_file_info *fi);
void front_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi);

/* attributes.c */
void front_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void front_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
		   struct fuse_file_info *fi);
void front_access(fuse_req_t req, fuse_ino_t ino, int mask);
void front_statfs(fuse_req_t req, fuse_ino_t ino);
void front_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value,
		    size_t size, int flags);
void front_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void front_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void front_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);

/* data.c */
void front_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void front_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void front_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		struct fuse_file_info *fi);
void front_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
		 struct fuse_file_info *fi);
void front_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
void front_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
		     struct fuse_file_info *fi);
void front_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence,
		 struct fuse_file_info *fi);
void front_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
			   struct fuse_file_info *fi_in, fuse_ino_t ino_out, off_t off_out,
			   struct fuse_file_info *fi_out, size_t len, int flags);

/* checkpoint.c: the ioctls of reffs.h, and the flags of inodes */
void front_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned cmd, void *arg, struct fuse_file_info *fi,
		 unsigned flags, const void *in, size_t in_size, size_t out_size);

#endif
