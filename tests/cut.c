/*
 * cut.c - see cut.h.
 */
#include "cut.h"

#include <errno.h>

#include "test.h"
#include "turning.h"

enum { SAMPLE = 12 };

#define HANGS_NS EDDY_SEC(60)

static struct fault_way *way_of(struct cut *cut)
{
        return cut->is_up ? &cut->proxy.up : &cut->proxy.down;
}

static uint64_t passed(const struct cut *cut)
{
        return cut->is_up ? cut->proxy.passed_up : cut->proxy.passed_down;
}

void cut_arm(struct cut *cut)
{
        cut->base = passed(cut);
        way_of(cut)->then = cut->then;
        way_of(cut)->bytes = cut->base + cut->bytes;
}

void cut_heal(struct cut *cut)
{
        if (cut->total == 0)
                cut->total = passed(cut) - cut->base;
        way_of(cut)->then = FAULT_NOTHING;
}

static bool is_listed(const int *errors, int err)
{
        while (*errors && *errors != err)
                errors++;
        return *errors != 0;
}

static int talk(struct cut *cut, const struct cut_state *state, enum fault_then then,
                uint64_t bytes)
{
        int err;

        cut->then = then;
        cut->bytes = bytes;
        cut->is_up = state->is_up;
        cut->base = cut->proxy.passed_up = cut->proxy.passed_down = 0;
        way_of(cut)->then = FAULT_NOTHING;
        cut->total = 0;
        err = eddy_call_timeout(state->fn, cut, HANGS_NS);
        cut_heal(cut);
        if (err < 0 && (then == FAULT_NOTHING || !is_listed(state->errors, err)))
                test_fail(__FILE__, __LINE__, "%s, %s after byte %llu: %s", state->name,
                          then == FAULT_END     ? "ended"
                          : then == FAULT_RESET ? "reset"
                                                : "not cut",
                          (unsigned long long) bytes, eddy_error_name(err));
        return err;
}

static void sweep(struct cut *cut, const struct cut_state *state)
{
        static const enum fault_then kinds[] = { FAULT_END, FAULT_RESET };
        uint64_t total, step;
        int count = 0, failed = 0;

        (void) talk(cut, state, FAULT_NOTHING, 0);
        total = cut->total;
        CHECK(total > 0);
        step = test_is_full() || total < SAMPLE ? 1 : total / SAMPLE;
        for (int kind = 0; kind < 2; kind++) {
                for (uint64_t bytes = 0; bytes < total; bytes += step) {
                        int err = talk(cut, state, kinds[kind], bytes);

                        count++;
                        failed += err < 0;
                }
        }
        CHECK(failed > 0);
        printf("# %s: %d bytes, %d cuts, %d failed and said so\n", state->name, (int) total, count,
               failed);
}

void cut_sweep(struct cut *cut, const struct cut_state *states)
{
        eddy_scope scope;

        turning_watch();
        eddy_scope_begin(&scope, NULL);
        fault_proxy_start(&cut->proxy, &scope);
        for (; states->name; states++)
                sweep(cut, states);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        fault_proxy_stop(&cut->proxy);
}
