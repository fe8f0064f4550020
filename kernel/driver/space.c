// SPDX-License-Identifier: GPL-2.0
/*
 * space.c -- address spaces: mappings of files by tasks that have no user memory.
 *
 * A task gets its address space with its first mapping. It has it as its own only within the calls
 * that are about mappings; to all others its pointers are plain memory (uaccess.c). No processor
 * uses the page tables: loads and stores go through them here, as one does. An access that the entry
 * does not allow is a fault, which handle_mm_fault() resolves; one that it allows makes the entry
 * young, and a store dirty.
 */
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/syscalls.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>

#include "assay.h"

/* More faults than one access can have, for memory that is short again and again. */
#define FAULTS_MAX 16

extern const sys_call_ptr_t sys_call_table[];

struct space {
	struct list_head list;
	struct task_struct *task;
	struct mm_struct *mm;
};

static LIST_HEAD(spaces);

static struct space *space_of(const struct task_struct *task)
{
	struct space *s;

	list_for_each_entry(s, &spaces, list)
		if (s->task == task)
			return s;
	return NULL;
}

static struct space *space_new(void)
{
	struct rlimit stack = { RLIM_INFINITY, RLIM_INFINITY };
	struct space *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->task = current;
	s->mm = mm_alloc();
	if (!s->mm) {
		kfree(s);
		return NULL;
	}
	arch_pick_mmap_layout(s->mm, &stack);
	s->mm->mmap_base = ASSAY_SPACE;
	s->mm->task_size = TASK_SIZE;
	list_add(&s->list, &spaces);
	return s;
}

void assay_space_end(void)
{
	struct space *s = space_of(current);

	if (!s)
		return;
	list_del(&s->list);
	mmput(s->mm);
	kfree(s);
}

/* Only threads of the kernel's own may take an address space. */
static void space_enter(struct space *s)
{
	current->flags |= PF_KTHREAD;
	kthread_use_mm(s->mm);
	current->flags &= ~PF_KTHREAD;
}

static void space_leave(struct space *s)
{
	current->flags |= PF_KTHREAD;
	kthread_unuse_mm(s->mm);
	current->flags &= ~PF_KTHREAD;
}

/* Where plain memory begins there are no mappings. */
static long space_map(long length, long prot, long flags, long fd, long offset)
{
	long at = sys_call_table[__NR_mmap](0, length, prot, flags, fd, offset);

	if (IS_ERR_VALUE(at) || at + length <= ASSAY_SPACE_END)
		return at;
	sys_call_table[__NR_munmap](at, length, 0, 0, 0, 0);
	return -ENOMEM;
}

_Bool assay_space_has(long number)
{
	return number == __NR_mmap || number == __NR_munmap || number == __NR_msync;
}

long assay_space_call(long number, long a, long b, long c, long d, long e, long f)
{
	struct space *s = space_of(current);
	long result;

	if (!s)
		s = space_new();
	if (!s)
		return -ENOMEM;
	space_enter(s);
	if (number == __NR_mmap)
		result = d & MAP_ANONYMOUS ? -EINVAL : space_map(b, c, d, e, f);
	else
		result = sys_call_table[number](a, b, c, d, e, f);
	space_leave(s);
	return result;
}

/* A part of one page; false where the entry does not allow it. */
static bool space_touch(struct mm_struct *mm, unsigned long at, void *plain, size_t n, bool store)
{
	spinlock_t *lock;
	pte_t *pte = get_locked_pte(mm, at, &lock), entry;
	bool allowed;
	char *page;

	if (!pte)
		return false;
	entry = ptep_get(pte);
	allowed = pte_present(entry) && (!store || pte_write(entry));
	if (allowed) {
		page = (char *)page_address(pte_page(entry)) + offset_in_page(at);
		entry = pte_mkyoung(entry);
		if (store) {
			memcpy(page, plain, n);
			entry = pte_mkdirty(entry);
		} else {
			memcpy(plain, page, n);
		}
		set_pte_at(mm, at, pte, entry);
	}
	pte_unmap_unlock(pte, lock);
	return allowed;
}

/* What a processor would ask of the kernel; 0 to try again, or the signal. */
static int space_fault(struct mm_struct *mm, unsigned long at, bool store, unsigned int *flags)
{
	vm_flags_t needed = store ? VM_WRITE : VM_READ | VM_WRITE | VM_EXEC;
	struct vm_area_struct *vma;
	vm_fault_t fault;

	mmap_read_lock(mm);
	vma = vma_lookup(mm, at);
	if (!vma || !(vma->vm_flags & needed)) {
		mmap_read_unlock(mm);
		return SIGSEGV;
	}
	fault = handle_mm_fault(vma, at, *flags | (store ? FAULT_FLAG_WRITE : 0), NULL);
	if (fault & VM_FAULT_RETRY)
		*flags |= FAULT_FLAG_TRIED;
	if (!(fault & (VM_FAULT_RETRY | VM_FAULT_COMPLETED)))
		mmap_read_unlock(mm);
	if (fault & VM_FAULT_OOM)
		return 0;
	if (fault & VM_FAULT_SIGSEGV)
		return SIGSEGV;
	return fault & VM_FAULT_ERROR ? SIGBUS : 0;
}

static int space_access(struct mm_struct *mm, unsigned long at, void *plain, size_t n, bool store)
{
	unsigned int flags = FAULT_FLAG_DEFAULT;
	int signal = 0;

	for (int i = 0; i < FAULTS_MAX && !signal; i++) {
		if (space_touch(mm, at, plain, n, store))
			return 0;
		signal = pagefault_disabled() ? SIGSEGV : space_fault(mm, at, store, &flags);
	}
	return signal ? signal : SIGBUS;
}

unsigned long assay_space_move(void *plain, unsigned long at, unsigned long n, _Bool store,
			       int *ret_signal)
{
	struct space *s = space_of(current);
	unsigned long done = 0, part;

	*ret_signal = s ? 0 : SIGSEGV;
	while (!*ret_signal && done < n) {
		part = min(n - done, PAGE_SIZE - offset_in_page(at + done));
		*ret_signal = space_access(s->mm, at + done, plain + done, part, store);
		if (!*ret_signal)
			done += part;
	}
	return done;
}

unsigned long assay_access(void *plain, unsigned long at, unsigned long n, _Bool store,
			   int *ret_signal)
{
	unsigned long done;

	assay_faults_enter();
	done = assay_space_move(plain, at, n, store, ret_signal);
	task_work_run();
	assay_faults_leave();
	return done;
}
