/*
 * cut.h - the sweep "end the connection at every byte, in every state": a client and a server talk through
 * a proxy, which ends or resets the connection after each byte that the server sends, or the client.
 *
 *     static int ask(void *arg)
 *     {
 *             ... connect to port cut->proxy.own_port ...
 *             cut_arm(cut);           the bytes are counted from here on
 *             return the error, or 0 after the value was checked;
 *     }
 *
 *     static const struct cut_state states[] = { { "ask", ask, errors }, { NULL } };
 *
 *     cut_sweep(&cut, states);        in a run
 *
 * Each conversation ends with one of the errors, or with 0; it may not hold the loop, nor last.
 */
#ifndef ED_TEST_CUT_H
#define ED_TEST_CUT_H

#include "fault_proxy.h"

struct cut_state {
        const char *name;
        eddy_task_fn *fn;  /* gets the struct cut */
        const int *errors; /* that are documented, up to 0 */
        bool is_up;        /* the client's bytes are cut */
};

struct cut {
        struct fault_proxy proxy; /* its server is set by the caller */

        /* Set by the sweep. */
        bool is_up; /* the bytes of the client are cut */
        enum fault_then then;
        uint64_t bytes; /* after which the connection is cut, ... */
        uint64_t base;  /* ... counted from here on */
        uint64_t total; /* of the conversation, up to cut_heal() or its end */
};

/* The connection is cut from here on, after the bytes of this conversation. */
void cut_arm(struct cut *cut);

/* Nothing is cut any more. */
void cut_heal(struct cut *cut);

/* Sweep all bytes of each state (test_is_full()), or a sample; up to a state without a name. */
void cut_sweep(struct cut *cut, const struct cut_state *states);

#endif
