/*
 * eddy/test_file.h - the disk of a test's run: crashes of the machine, and what they leave.
 *
 * In a run of eddy/test.h, eddy/file.h, eddy/folder.h and eddy/path.h work in memory.  A run
 * begins with an empty disk that has the folder /tmp.  Symbolic links and ".." do not
 * exist there, and relative paths begin at the root.
 *
 * A crash keeps what was synced, and may keep more: of each folder the first n changes of
 * its names since the last eddy_folder_sync(), and of each file any of the writes since the
 * last eddy_file_sync(), each of them whole, as zeros, or torn: only what is before or what
 * is after the end of its first or last sector of 512 bytes or page of 4096.
 * eddy_test_power_off() counts these states, eddy_test_power_on() enters one of them:
 *
 *     eddy_test_power_off_at(n);
 *     (void) save_all(arg);                the program; its calls fail from there on
 *     states = eddy_test_power_off();
 *     for (uint64_t i = 0; i < states; i++) {
 *             assert(eddy_test_power_on(i) == 0);
 *             check_what_is_left();
 *     }
 *
 * A program that passes for each 'n' from 1 to the number of its operations survives a
 * crash at any moment.
 */
#ifndef EDDY_TEST_FILE_H
#define EDDY_TEST_FILE_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/*
 * The power fails: from now on all operations on files fail with -EIO.  Returns the number
 * of states that the crash can leave, at least 1; INT64_MAX means that number or more.  If
 * the power is off already, returns the number for that crash.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN  not in a run of the kit
 *         -ENOMEM
 */
EDDY_API int64_t eddy_test_power_off(void);

/*
 * The power fails in the n-th operation on a file from now (1: the next), which is not
 * done; 0 withdraws this.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN  not in a run of the kit
 */
EDDY_API int eddy_test_power_off_at(uint64_t n);

/*
 * The power is back, and the disk is in state 'state', from 0 to the number of states less
 * 1.  Files that were open at the crash can only be closed.  May be called again for another
 * state of the same crash: changes since the last call are dropped.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN  not in a run of the kit
 *         -EINVAL             the power was never off, or there are fewer states
 *         -ENOMEM
 */
EDDY_API int eddy_test_power_on(uint64_t state);

/*
 * Returns the number of operations on files so far in this run.
 *
 * Suspends: no.
 * Errors: EDDY_E_TEST_NO_RUN  not in a run of the kit
 */
EDDY_API int64_t eddy_test_file_operations(void);

EDDY_END_DECLS

#endif
