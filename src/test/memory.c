/*
 * test/memory.c - an allocator that wraps another.
 */
#include "test/memory.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "sys/process/fork.h"
#include "test/strike.h"

struct block {
        void *ptr; /* NULL: this place of the table is free */
        size_t bytes;
        uint64_t number;
};

enum { PLACES_MIN = 256 };

static struct {
        /*
         * A lock, since the program's own threads may allocate too. 0: free; else the holder's
         * who_am_i().
         */
        _Atomic unsigned holder;
        bool torn; /* a child's copy, made during a change: its blocks are unknown */
        eddy_realloc_fn *fn;
        void *ctx;
        struct block *places; /* open addressing; at least half are free */
        size_t places_count;  /* a power of two, or 0 */
        uint64_t live, bytes;
        bool counting, forever, with_debug;
        uint64_t asked, failed, fail_at, again;
} memory;

/* This thread has the lock. */
static __thread bool locked __attribute__((tls_model("initial-exec")));

/* Returns an id of this process, to distinguish it from the process that it was forked from. */
static unsigned who_am_i(void)
{
        return ed_sys_forks() + 1;
}

static void lock(void)
{
        unsigned me = who_am_i(), holder = 0;

        /*
         * A lock held by a thread of the parent process is taken over: that thread does not exist
         * here.
         */
        while (!atomic_compare_exchange_weak_explicit(&memory.holder, &holder, me,
                                                      memory_order_acquire, memory_order_relaxed))
                if (holder == me)
                        holder = 0;
        locked = true;
        if (holder == 0)
                return;
        memory.torn = true;
        memory.counting = false;
        memory.live = memory.bytes = 0;
}

static void unlock(void)
{
        locked = false;
        atomic_store_explicit(&memory.holder, 0, memory_order_release);
}

/* --- the table --- */

/* Allocations for debug mode are not counted, unless debug mode itself is tested. */
static bool is_counted(void)
{
        return memory.counting && (memory.with_debug || !ed_alloc_is_debug);
}

static size_t home_of(const void *ptr)
{
        return ((uintptr_t) ptr >> 4) * 0x9e3779b97f4a7c15ULL >> 20 & (memory.places_count - 1);
}

/* Returns a block's place, or the free place where it would be. */
static struct block *place_of(const void *ptr)
{
        size_t i = home_of(ptr);

        while (memory.places[i].ptr && memory.places[i].ptr != ptr)
                i = (i + 1) & (memory.places_count - 1);
        return &memory.places[i];
}

static bool table_grow(void)
{
        size_t former_count = memory.places_count;
        size_t count = former_count ? 2 * former_count : PLACES_MIN;
        struct block *former = memory.places;
        struct block *places = memory.fn(memory.ctx, NULL, count * sizeof(*places));

        if (!places)
                return false;
        memset(places, 0, count * sizeof(*places));
        memory.places = places;
        memory.places_count = count;
        for (size_t i = 0; i < former_count; i++)
                if (former[i].ptr)
                        *place_of(former[i].ptr) = former[i];
        if (former)
                (void) memory.fn(memory.ctx, former, 0);
        return true;
}

static void table_add(void *ptr, size_t bytes)
{
        *place_of(ptr) = (struct block){ ptr, bytes, is_counted() ? memory.asked : 0 };
        memory.live++;
        memory.bytes += bytes;
}

/* Returns true if the block is from this run. Later blocks move up to where they are looked up. */
static bool table_remove(const void *ptr)
{
        size_t mask = memory.places_count - 1, hole, i;
        struct block *place = place_of(ptr);

        if (!place->ptr)
                return false;
        memory.live--;
        memory.bytes -= place->bytes;
        hole = (size_t) (place - memory.places);
        for (i = (hole + 1) & mask; memory.places[i].ptr; i = (i + 1) & mask) {
                size_t home = home_of(memory.places[i].ptr);

                if (((i - home) & mask) >= ((i - hole) & mask)) {
                        memory.places[hole] = memory.places[i];
                        hole = i;
                }
        }
        memory.places[hole].ptr = NULL;
        return true;
}

/* --- the allocator --- */

static bool is_to_fail(void)
{
        uint64_t after;

        if (!is_counted())
                return false;
        memory.asked++;
        if (memory.fail_at == 0 || memory.asked < memory.fail_at)
                return false;
        after = memory.asked - memory.fail_at;
        if (after > 0 && after != memory.again && !memory.forever)
                return false;
        memory.failed++;
        return true;
}

static void *resize(void *ptr, size_t bytes)
{
        void *moved;

        if (memory.torn)
                return memory.fn(memory.ctx, ptr, bytes);
        if (bytes == 0) {
                (void) table_remove(ptr);
                return memory.fn(memory.ctx, ptr, 0);
        }
        if (is_to_fail() || (2 * (memory.live + 1) > memory.places_count && !table_grow()))
                return NULL;
        moved = memory.fn(memory.ctx, ptr, bytes);
        /* A block allocated before the run stays uncounted, even when it is resized. */
        if (moved && (!ptr || table_remove(ptr)))
                table_add(moved, bytes);
        return moved;
}

static void *resize_locked(void *ctx, void *ptr, size_t bytes)
{
        uint64_t failed;
        bool again;
        void *moved;

        (void) ctx;
        lock();
        failed = memory.failed;
        moved = resize(ptr, bytes);
        failed = memory.failed - failed;
        again = memory.asked > memory.fail_at;
        unlock();
        if (ed_unlikely(failed > 0))
                ed_test_strike_alloc(again, __builtin_return_address(0));
        return moved;
}

/* --- a run --- */

void ed_test_memory_begin(void)
{
        ed_alloc_hook(&memory.fn, &memory.ctx);
        lock();
        memory.torn = false;
        /* Without memory for the table the first allocation fails. */
        if (memory.places_count == 0)
                (void) table_grow();
        memory.live = memory.bytes = 0;
        memory.counting = false;
        memory.asked = memory.failed = 0;
        unlock();
        if (memory.places_count > 0)
                eddy_alloc_set(resize_locked, NULL);
}

bool ed_test_memory_is_replaced(void)
{
        eddy_realloc_fn *fn;
        void *ctx;

        ed_alloc_hook(&fn, &ctx);
        return memory.places_count > 0 && fn != resize_locked;
}

void ed_test_memory_count(uint64_t fail_at, bool forever, uint64_t again, bool with_debug)
{
        lock();
        memory.with_debug = with_debug;
        memory.asked = memory.failed = 0;
        memory.fail_at = fail_at;
        memory.forever = forever;
        memory.again = again;
        memory.counting = !memory.torn;
        unlock();
}

void ed_test_memory_pause(void)
{
        lock();
        memory.counting = false;
        unlock();
}

void ed_test_memory_look(struct ed_test_memory *ret_memory)
{
        uint64_t first = UINT64_MAX;

        lock();
        for (size_t i = 0; memory.live > 0 && i < memory.places_count; i++)
                if (memory.places[i].ptr && memory.places[i].number < first)
                        first = memory.places[i].number;
        *ret_memory = (struct ed_test_memory){
                .asked = memory.asked,
                .failed = memory.failed,
                .live = memory.live,
                .bytes = memory.bytes,
                .first = memory.live > 0 ? first : 0,
        };
        unlock();
}

static void forget(void)
{
        if (memory.places)
                (void) memory.fn(memory.ctx, memory.places, 0);
        memory.places = NULL;
        memory.places_count = 0;
        memory.live = memory.bytes = 0;
}

void ed_test_memory_end(void)
{
        eddy_alloc_set(memory.fn, memory.ctx);
        forget();
}

void ed_test_memory_left(void)
{
        if (locked)
                unlock();
}

void ed_test_memory_unhook(void)
{
        eddy_alloc_set(memory.fn, memory.ctx);
}

void ed_test_memory_drop(void)
{
        eddy_alloc_set(memory.fn, memory.ctx);
        lock(); /* the lock detects a torn table */
        unlock();
        for (size_t i = 0; i < memory.places_count && !memory.torn; i++)
                if (memory.places[i].ptr)
                        (void) memory.fn(memory.ctx, memory.places[i].ptr, 0);
        forget();
}
