/*
 * loom.h - what the programs of the search have in common: a table whose poll
 * waits in the search, and cases that say what was explored.
 */
#ifndef LOOM_H
#define LOOM_H

#include "dfs.h"
#include "sys/sys.h"
#include "test.h"

struct loom_table {
        struct ed_sys sys;
        struct ed_event event; /* what the next poll has to tell, if it has a target */
        int64_t now_ns;
        bool woken; /* as the descriptor of the kernel's: a poll takes it */
        bool gone;
};

void loom_table_init(struct loom_table *table);

/* A table for a run, which frees it. */
struct ed_sys *loom_table_new(void);

/* Wait for a wake, and take it. */
void loom_table_wait(struct loom_table *table);

/*
 * A case: explore a program at bound 2, or 3 in the full torture, and print
 * the counts.  If EDDY_TEST_PLANTED is set, a problem must be found instead, with
 * the text of that variable in it.
 */
void loom_case(const char *part, const char *name, void (*program)(void));

#define LOOM_TEST(part, claim)                                                                     \
        static void loom_##claim(void);                                                            \
        TEST(claim)                                                                                \
        {                                                                                          \
                loom_case(#part, #claim, loom_##claim);                                            \
        }                                                                                          \
        static void loom_##claim(void)

#endif
