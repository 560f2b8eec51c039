/*
 * turning.h - fails a case whose loop does not turn for a second of its thread's processor time.
 *
 *     turning_watch();
 *     io_run(main_fn);
 *
 * A turn is a poll of the loop. Neither a slow machine nor a process that is stopped takes processor time,
 * so the watch does not depend on them; sanitizers multiply the second.
 */
#ifndef ED_TEST_TURNING_H
#define ED_TEST_TURNING_H

#include <stdint.h>

/* Watch the loops of this thread until the end of the case, which is aborted with its name and a stack. */
void turning_watch(void);
/* The same, for the tests of the watch: with so much processor time instead of the second. */
void turning_watch_for(int64_t ns);

#endif
