/*
 * co/co.c - preparing contexts, and reading their frames.  The switch itself: co.h.
 */
#include "co/co.h"

#include "sys/sys.h"
#include "sys/thread/thread_stack.h"

#if defined(ED_ASAN) || defined(ED_MSAN)
enum { ASAN_LEFT_BYTES = 8192 };

struct checked_start {
        ed_co_fn *fn;
        void *arg;
};

/*
 * The first code on a new stack: notifies the sanitizer that the switch is complete.  MSan decides
 * if arguments are initialised from a record that the caller makes; this function has no MSan
 * checks, so it records that all are.
 */
ED_CO_UNCHECKED static void checked_entry(void *arg)
{
        struct checked_start start = *(struct checked_start *) arg;

#ifdef ED_ASAN
        __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#else
        __msan_finish_switch_fiber(NULL, NULL);
#endif
        start.fn(start.arg);
}

void ed_co_init_checked(struct ed_co *co, void *bottom, void *top, ed_co_fn *fn, void *arg)
{
        struct checked_start *start = (struct checked_start *) top - 1;

#ifdef ED_ASAN
        /*
         * The frames that the stack's last user abandoned are still poisoned.  They are the
         * outermost ones.
         */
        __asan_unpoison_memory_region((char *) top - ASAN_LEFT_BYTES, ASAN_LEFT_BYTES);
        co->fake_stack = NULL;
#endif
        *start = (struct checked_start){ fn, arg };
        co->bottom = bottom;
        co->bytes = (size_t) ((char *) start - (char *) bottom);
        ed_co_init_plain(co, start, checked_entry, start);
}
#endif

void ed_co_init_thread(struct ed_co *co)
{
        *co = (struct ed_co){ 0 };
#if defined(ED_ASAN) || defined(ED_MSAN)
        void *base;

        ed_sys_thread_stack(&base, &co->bytes);
        co->bottom = base;
#endif
#ifdef ED_TSAN
        co->fiber = __tsan_get_current_fiber();
#endif
}

#ifdef ED_ASAN
enum { JUMPED_OVER_MAX = 256 * 1024 };
#endif

void ed_co_come_back(struct ed_co *co, bool away)
{
#ifdef ED_ASAN
        const char *here = __builtin_frame_address(0), *bottom = co->bottom;
        void *abandoned;

        /* Frames since the jump may be in the other context's fake stack, which must remain. */
        if (away) {
                __sanitizer_start_switch_fiber(&abandoned, co->bottom, co->bytes);
                __sanitizer_finish_switch_fiber(co->fake_stack, NULL, NULL);
        }
        /* The skipped frames are still poisoned, and later frames overlap them. */
        if (here - bottom > JUMPED_OVER_MAX)
                bottom = here - JUMPED_OVER_MAX;
        __asan_unpoison_memory_region(bottom, co->bytes - (size_t) (bottom - (char *) co->bottom));
#endif
#ifdef ED_TSAN
        if (away)
                __tsan_switch_to_fiber(co->fiber, 0);
#endif
        (void) co;
        (void) away;
}

/*
 * Removes the signature of a stored return address, if any: code built with -mbranch-protection
 * signs the addresses that it stores.
 */
static void *plain_address(uintptr_t stored)
{
#if defined(__aarch64__)
        register uintptr_t x30 __asm__("x30") = stored;

        /* xpaclri: does nothing on processors without signing. */
        __asm__("hint #7" : "+r"(x30));
        stored = x30;
#endif
        return (void *) stored;
}

/*
 * Code without frame pointers may leave any value in the register, so read only where a frame can
 * be.
 */
ED_CO_UNCHECKED int ed_co_frames(const struct ed_co *co, const void *top, void **ret_frames,
                                 int max)
{
        uintptr_t at = (uintptr_t) co->frame, low = (uintptr_t) co->sp;
        int n = 0;

        if (co->resume == (void *) ed_co_entry_asm || max < 1)
                return 0;
        ret_frames[n++] = co->resume;
        while (n < max && at >= low && at % sizeof(at) == 0 &&
               at + 2 * sizeof(at) <= (uintptr_t) top) {
                const uintptr_t *frame = (const uintptr_t *) at;

                ret_frames[n++] = plain_address(frame[1]);
                low = at + 2 * sizeof(at);
                at = frame[0];
        }
        return n;
}
