/*
 * test/memory.h - all memory that eddy allocates in a run: counted, recorded, and refused on
 * request.
 *
 * Blocks are the former allocator's own, without headers, and are recorded in a separate table. A
 * block allocated before the run may therefore be freed in it, and the reverse.
 */
#ifndef ED_TEST_MEMORY_H
#define ED_TEST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct ed_test_memory {
        uint64_t asked;  /* allocations since ed_test_memory_count() */
        uint64_t failed; /* number of those refused on purpose */
        uint64_t live;   /* unfreed blocks of the run */
        uint64_t bytes;  /* their size */
        uint64_t first;  /* number of the first of them; 0: allocated before counting began */
};

/*
 * Returns true if the program has replaced this allocator since: later blocks are not recorded
 * here.
 */
bool ed_test_memory_is_replaced(void);

/* Wrap the current allocator. */
void ed_test_memory_begin(void);

/*
 * Count allocations from 1 again. Fail number 'fail_at' (0: none), and with 'forever' all later
 * ones, or else one more, 'again' allocations later. Allocations for debug mode are counted if
 * 'with_debug'.
 */
void ed_test_memory_count(uint64_t fail_at, bool forever, uint64_t again, bool with_debug);

/* Stop counting and failing. */
void ed_test_memory_pause(void);

/* Returns the current numbers. */
void ed_test_memory_look(struct ed_test_memory *ret_memory);

/* Restore the former allocator, and forget the remaining blocks. */
void ed_test_memory_end(void);

/* Call after this thread has left the run by a jump, possibly from inside the allocator. */
void ed_test_memory_left(void);

/* In a copy of a process that ends: use the former allocator, whatever the table's state is. */
void ed_test_memory_unhook(void);

/* Free all remaining blocks of an abandoned run. */
void ed_test_memory_drop(void);

#endif
