/* SPDX-License-Identifier: GPL-2.0 */
/* assay.h -- what the parts of the driver have in common: kernel, host and agent. */
#ifndef ASSAY_H
#define ASSAY_H

/* What the host passes, as descriptors. */
enum {
	ASSAY_SHM_FD = 3,  /* memory shared with the checker */
	ASSAY_IMAGE_FD = 4, /* the disk; may be missing */
};

/* How a kernel ends that cannot continue. */
enum {
	ASSAY_EXIT_BROKEN = 97,   /* our own failure */
	ASSAY_EXIT_DEADLOCK = 98,
	ASSAY_EXIT_PANIC = 99,
};

/* Virtual seconds after which a call will never end. */
enum { ASSAY_DEADLOCK_SECONDS = 600 };

/* What fails, and which of those: numbers from 1 on, 0 for none. */
enum { ASSAY_FAULT_ALLOC, ASSAY_FAULT_READ, ASSAY_FAULT_WRITE, ASSAY_FAULTS };
enum { ASSAY_FAULTS_MAX = 2 };
struct assay_faults {
	_Bool any;
	unsigned int number[ASSAY_FAULTS][ASSAY_FAULTS_MAX];
};

/* Bytes of the name of a bug that was put into the kernel (seeded.h), with its NUL. */
enum { ASSAY_SEEDED_MAX = 256 };

/* What the disk was asked for, in order: these, each with its data behind it if it has any. */
enum {
	ASSAY_RECORD_WRITE = 1 << 0,
	ASSAY_RECORD_ZEROES = 1 << 1,
	ASSAY_RECORD_DISCARD = 1 << 2,
	ASSAY_RECORD_FLUSH = 1 << 3, /* before whatever else it is */
	ASSAY_RECORD_FUA = 1 << 4,
	ASSAY_RECORD_MARK = 1 << 5,  /* a call has returned */
	ASSAY_RECORD_ERASE = 1 << 6,
	ASSAY_RECORD_PROGRAM = 1 << 7, /* with ASSAY_RECORD_WRITE */
};
struct assay_record {
	unsigned long offset;
	unsigned int size, what;
};

/* Of flash memory: what is erased, and what is programmed, as a whole. */
enum { ASSAY_FLASH_ERASE_BYTES = 16 << 10, ASSAY_FLASH_WRITE_BYTES = 1 };

/* Memory in use, of one sort. */
struct assay_held {
	char name[40];
	unsigned long count;
};

/* Bytes of code for each bit that says whether it was run. */
enum { ASSAY_POINT_BYTES = 4 };

/* Addresses of mappings of files, as calls of the kernel have them: nothing else lies there. */
#define ASSAY_SPACE 0x1000000000UL
#define ASSAY_SPACE_END 0x6000000000UL

static inline _Bool assay_in_space(unsigned long address)
{
	return address >= ASSAY_SPACE && address < ASSAY_SPACE_END;
}

/* Kernel side. */
/* The medium, of the image: a disk, which may be missing, or flash memory. */
int assay_disk_add(void);
int assay_flash_add(void);
unsigned long assay_medium_size(void);
int assay_medium_load(unsigned long page, const void *bytes); /* before anything has used it */
int assay_medium_note_reads(void *bits, unsigned long limit); /* sectors, from now on */
int assay_medium_record(void); /* from now on */
void assay_medium_mark(void);
/* The first page from *page on that is not as in the image; NULL: there is none. */
const void *assay_medium_changed(unsigned long *page);
const void *assay_medium_recorded(unsigned long *ret_size); /* NULL: not recorded, or too much */
unsigned int assay_memory_held(struct assay_held *ret, unsigned int max); /* how many sorts */
void assay_warn(const char *text);
void assay_faults_arm(const struct assay_faults *armed);
void assay_faults_enter(void);
void assay_faults_leave(void);
_Bool assay_request_fails(_Bool write);
void assay_seed(const char *name); /* activates this bug; "": none */
_Bool assay_is_direct(int fd);
long assay_direct(int fd, void *memory, unsigned long bytes, const long *pos, _Bool out);
/* Address spaces (space.c): calls about mappings; loads and stores of the present task, which say
 * how much they moved and the signal that ended them, or 0. */
_Bool assay_space_has(long number);
long assay_space_call(long number, long a, long b, long c, long d, long e, long f);
unsigned long assay_space_move(void *plain, unsigned long at, unsigned long n, _Bool store,
			       int *ret_signal);
unsigned long assay_access(void *plain, unsigned long at, unsigned long n, _Bool store,
			   int *ret_signal); /* the same, as a call */
void assay_space_end(void);
/* From now on, points of code that are reached for the first time; `limit` is that of bits. */
void assay_coverage_begin(unsigned char *bits, unsigned long limit, unsigned int *count);
long assay_call(long number, long a, long b, long c, long d, long e, long f);
struct assay_thread;
struct assay_thread *assay_thread_new(void (*turn)(void *arg), void *arg);
void assay_thread_run(struct assay_thread *t); /* one turn, to its end */
_Bool assay_thread_try(struct assay_thread *t); /* false: it will never end */
void assay_thread_end(struct assay_thread *t);
/* A turn of all of them at once, by a schedule (overlap.h); -ENOSYS: not this kernel. What is called
 * before and behind the calls of a thread says that one begins or returns. */
struct assay_overlap;
int assay_threads_overlap(struct assay_thread **threads, unsigned int count,
			  struct assay_overlap *board);
void assay_thread_calls(_Bool returns);
/* Its pointers are those of this process of the host; 0: of this one. */
void assay_thread_serve(struct assay_thread *t, int host_pid);
int assay_thread_host_pid(void); /* of the present thread */
_Bool assay_maps_late(unsigned long address);
/* As write(2), by a thread that is the kernel's own: some files ask for one. */
long assay_write_apart(int fd, const char *data, unsigned long len);
void assay_sleep_ms(unsigned long ms);
void assay_move_clock(long ns);
void assay_failed(const char *why) __attribute__((noreturn));
void assay_settle(void);
void assay_watch(void);
void assay_unwatch(void);

/* Host side. */
void *assay_host_image(int fd, unsigned long *ret_size);
void *assay_host_memory(unsigned long size);
void assay_host_unmap(void *memory, unsigned long size);
/* Copies that are put back (revert.c) to what their origin is, where it is parked. */
void assay_revert_allow(void); /* of the origin: its memory may be read */
void assay_revert_skip(const void *memory, unsigned long size); /* this is not put back */
void assay_revert_begin(int origin); /* of the copy, when it has been made */
void assay_revert_moved(const void *memory, unsigned long size); /* was mapped or unmapped */
void assay_revert(void **parked); /* continues there; returns where it cannot be done */
int assay_host_fork(void); /* as a child of the checker's */
int assay_host_child(void); /* as a child of this process, to be waited for */
int assay_host_wait(int child); /* with what it exited; negative: it was killed */
void assay_host_exit(int code) __attribute__((noreturn));
void assay_host_catch(void); /* bad pointers of callers */
/* Memory of another process; they say how much was moved. */
unsigned long assay_host_read(int pid, void *to, const void *from, unsigned long n);
unsigned long assay_host_write(int pid, void *to, const void *from, unsigned long n);

/* Agent. */
void assay_agent(void) __attribute__((noreturn));
void assay_agent_console(const char *text, unsigned int len);

#endif
