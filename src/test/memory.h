/*
 * test/memory.h - all memory that eddy asks for in a run: counted, known, and
 * refused when that is wanted.
 *
 * Blocks are the former allocator's own, without anything around them, and
 * known by a table beside them: so one that was made before the run may be
 * freed in it, and one of the run after it.
 */
#ifndef ED_TEST_MEMORY_H
#define ED_TEST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct ed_test_memory {
        uint64_t asked;  /* allocations since ed_test_memory_count() */
        uint64_t failed; /* of them, on purpose */
        uint64_t live;   /* blocks of the run that were not freed */
        uint64_t bytes;  /* in them */
        uint64_t first;  /* the number of the first of them; 0: it came before they are counted */
};

/* Whether somebody has taken that place since: what it gives is not known here. */
bool ed_test_memory_is_replaced(void);

/* Take the place of the allocator in force. */
void ed_test_memory_begin(void);

/*
 * Count from here on, 1 the next; fail that one, and with 'forever' all after
 * it, or else that many after it another one.  0: none.  What only debug mode
 * needs counts 'with_debug'.
 */
void ed_test_memory_count(uint64_t fail_at, bool forever, uint64_t again, bool with_debug);

/* As before ed_test_memory_count(). */
void ed_test_memory_pause(void);

/* What there is now. */
void ed_test_memory_look(struct ed_test_memory *ret_memory);

/* Put the former allocator back, and forget what is left. */
void ed_test_memory_end(void);

/* This thread has left the run by a jump, perhaps out of the allocator itself. */
void ed_test_memory_left(void);

/* Free all that is left: nobody will. */
void ed_test_memory_drop(void);

#endif
