/*
 * test/replay.h - a run in a string: "transfer:seed=18,cancel=31".
 */
#ifndef ED_TEST_REPLAY_H
#define ED_TEST_REPLAY_H

#include "eddy/test.h"
#include "test/strike.h"

enum { ED_TEST_SPEC_BYTES = 128 };

/* What stands behind the colon. */
void ed_test_spec_write(const struct eddy_test_opts *opts, char *buf, size_t bytes);

/*
 * What EDDY_TEST_REPLAY says of the runs of that name: 1, there is one, and
 * 'opts' are made its; 0, none; -1, the variable is not set; -EINVAL.
 */
enum { ED_TEST_REPLAY_NONE = -1 };
int ed_test_replay(const char *name, struct eddy_test_opts *opts);

/* A number in the environment; 'otherwise' where it is none above 0. */
uint64_t ed_test_number(const char *variable, uint64_t otherwise);

/* Say what was found, where in the program it was struck, and how to have it again. */
void ed_test_tell(const char *name, const struct eddy_test_opts *opts, const char *problem,
                  const struct ed_test_strikes *strikes);

/* The same of what only the runs before it make a finding of: by itself it would be none. */
void ed_test_tell_differs(const char *name, const struct eddy_test_opts *opts, const char *problem);

/* Only what was found; only where it was struck; or, before a run, which it is. */
void ed_test_tell_lines(const char *name, const struct eddy_test_opts *opts, const char *problem);
void ed_test_tell_strikes(const char *name, const struct eddy_test_opts *opts,
                          const struct ed_test_strikes *strikes);
void ed_test_tell_before(const char *name, const struct eddy_test_opts *opts);

#endif
