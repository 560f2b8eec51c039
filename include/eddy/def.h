/*
 * eddy/def.h - linkage and attributes, which every other header needs.
 *
 * Terms in all headers:
 *
 *   Suspends: yes   the call may let other tasks run and is a cancellation
 *                   point: in a cancelled scope it does nothing and returns
 *                   -ECANCELED.
 *   Threads:  loop  only on the thread of the loop, inside eddy_run().  This
 *                   is the default and is not repeated.
 *             any   from any thread.
 *   Owns:           what the caller must release, and how long a borrow lasts.
 *
 * A queue, lock, semaphore, event, condition, barrier or future belongs to one
 * loop.  While tasks wait for such an object, its functions do nothing and
 * return EDDY_E_RUN_OTHER_LOOP to other loops and threads.  In debug mode they
 * do so whenever a loop that still exists has used the object first.  The thread
 * of a loop that is not running may use the objects of that loop.
 *
 * A stream, listener, socket, file, process, pool, limiter, log, set of metrics, client,
 * response or connection belongs to the loop that made it.  In another loop, or after its
 * loop has ended, each call on it does nothing and returns EDDY_E_RUN_OTHER_LOOP; outside
 * a run, a call that suspends may return EDDY_E_RUN_NOT_RUNNING instead.  The end of
 * a loop closes the descriptors of its objects.  The objects must still be closed, by
 * any thread.  Before the loop's end only its thread can close them; a close on
 * another thread is refused and reported (EDDY_REPORT_MISUSE).
 *
 * Every function that can fail returns an int or int64_t: 0 and above is
 * success, a negative value is the error (eddy/error.h).  Outputs are not
 * changed on failure.  errno is neither set nor read.
 */
#ifndef EDDY_DEF_H
#define EDDY_DEF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define EDDY_BEGIN_DECLS extern "C" {
#define EDDY_END_DECLS   }
#else
#define EDDY_BEGIN_DECLS
#define EDDY_END_DECLS
#endif

/* The build of the library itself adds to EDDY_API (src/meson.build). */
#ifndef EDDY_API
#define EDDY_API __attribute__((visibility("default")))
#endif
#define EDDY_MUST_USE           __attribute__((warn_unused_result))
#define EDDY_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/*
 * Comes after a member of a struct that the caller fills in.  In C++20, a member that is left out is
 * then zero, and g++ does not warn (-Wmissing-field-initializers).  In C++20 the struct has a
 * constructor: clear it with `= {}`, as memset() causes a warning of g++ (-Wclass-memaccess), declare
 * it before each goto that passes it, and give a union that contains it a constructor.
 */
#if defined(__cplusplus) && __cplusplus > 201703L
#define EDDY_UNSET = {}
#else
#define EDDY_UNSET
#endif

/*
 * Private.  0 if the constant 'is_right' is not 0, else an error of the compiler with 'text'.  Before
 * C11, which added static assertions, the error has 'name'.
 */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define EDDY_CHECK_(is_right, text, name)                                                          \
        (0 * __extension__ sizeof(struct {                                                         \
                 _Static_assert(__extension__(is_right), text);                                    \
                 char byte;                                                                        \
         }))
#else
#define EDDY_CHECK_(is_right, text, name)                                                          \
        (0 * __extension__ sizeof(struct { int name : (is_right) ? 1 : -1; }))
#endif

/* The place in the source, such as "chat.c:31". */
#define EDDY_PLACE         __FILE__ ":" EDDY_TEXT_OF(__LINE__)
#define EDDY_TEXT_OF(word) EDDY_TEXT(word)
#define EDDY_TEXT(word)    #word

/*
 * EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
 * EDDY_AUTO(eddy_queue) eddy_queue jobs = { 0 };
 *
 * Releases the object when the variable goes out of scope, on every way out:
 * the library's objects by their close or release function, the caller's
 * structs by their fini function.  A NULL pointer is ignored.
 */
#define EDDY_AUTO(type) __attribute__((cleanup(type##_auto_release)))

#endif
