// SPDX-License-Identifier: GPL-2.0
/*
 * leaks.c -- how much of its memory the kernel has given away: objects by cache, and pages.
 *
 * Caches are emptied of what is free first, so that the counts are exact.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/vmstat.h>

#include "../../../mm/slab.h"
#include "assay.h"

static unsigned long pages_used(void)
{
	return totalram_pages() - global_zone_page_state(NR_FREE_PAGES) -
	       global_node_page_state_pages(NR_SLAB_RECLAIMABLE_B) -
	       global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B);
}

/* All memory there is, for a moment: what can be given back, is. */
static void use_up(void)
{
	LIST_HEAD(taken);
	struct page *page, *next;

	while ((page = alloc_page(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)))
		list_add(&page->lru, &taken);
	list_for_each_entry_safe(page, next, &taken, lru)
		__free_page(page);
}

static void hold(struct assay_held *held, const char *name, unsigned long count)
{
	strscpy(held->name, name, sizeof(held->name));
	held->count = count;
}

unsigned int assay_memory_held(struct assay_held *ret, unsigned int max)
{
	struct kmem_cache *cache;
	unsigned int n = 0;

	use_up();
	vm_unmap_aliases();
	drain_all_pages(NULL);
	mutex_lock(&slab_mutex);
	list_for_each_entry(cache, &slab_caches, list) {
		struct slabinfo info = { 0 };

		if (n + 1 >= max)
			break;
		if (strstarts(cache->name, "kmemleak")) /* who looks for leaks grows with them */
			continue;
		kmem_cache_shrink(cache);
		get_slabinfo(cache, &info);
		hold(&ret[n++], cache->name, info.active_objs);
	}
	mutex_unlock(&slab_mutex);
	hold(&ret[n++], "pages", pages_used());
	return n;
}
