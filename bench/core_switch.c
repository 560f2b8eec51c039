/*
 * core_switch.c - the bare switch under eddy's tasks.
 *
 * The bare switch, which no program that uses eddy can call: the one file here
 * that includes more than public headers; src/co/co.c is compiled in beside it.
 */
#include "co/co.h"

#include "core_eddy.h"

enum { STACK_BYTES = 64 * 1024 };

struct pair {
        struct bench *bench;
        struct ed_co there, back;
};

static void resume_each_other(void *arg)
{
        struct pair *pair = arg;

        for (;;) {
                pair->bench->done++;
                ed_co_switch(&pair->there, &pair->back);
        }
}

/*
 * switch: two contexts that switch to each other, without a scheduler.  An
 * operation is one switch, so there and back are two.
 */
int row_switch(struct bench *bench)
{
        struct pair pair = { .bench = bench };
        char *stack = aligned_alloc(64, STACK_BYTES);

        if (!stack)
                return -ENOMEM;
        ed_co_init(&pair.there, stack, stack + STACK_BYTES, resume_each_other, &pair);
        ed_co_switch(&pair.back, &pair.there);
        bench->done = 0;
        bench_span_begin(&bench->span);
        while (bench->done < bench->count) {
                bench->done++;
                ed_co_switch(&pair.back, &pair.there);
        }
        bench_span_end(&bench->span);
        /* The other one is not ended: it has nothing to clean up. */
        free(stack);
        return 0;
}
