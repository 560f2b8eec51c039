/*
 * eddy/cpp.hpp - scopes, callables and errors for C++20; docs/cpp.md explains it.
 *
 * All of it is inline and uses the C interface, which C++ programs may use beside it.  It
 * also works with -fno-exceptions and -fno-rtti.  eddy/eddy.h does not include it.
 *
 * A task may throw.  The exception ends its task, which fails, and never crosses the frames of
 * eddy: eddy::scope::end() and eddy::run() throw it again in the function that called them.
 */
#ifndef EDDY_CPP_HPP
#define EDDY_CPP_HPP

#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "eddy/call.h"
#include "eddy/error.h"
#include "eddy/run.h"
#include "eddy/scope.h"

namespace eddy
{

/* An error of the C interface, -errno or EDDY_E_*, as an exception. */
struct error final : std::exception {
        explicit error(int error_number) noexcept : number(error_number) {}
        const char *what() const noexcept override { return eddy_error_text(number); }

        int number;
};

#if defined(__cpp_exceptions)
/* Returns a result of 0 or more, and throws a negative one as an eddy::error. */
template <typename Int> Int check(Int result)
{
        return result < 0 ? throw error(static_cast<int>(result)) : result;
}
#endif

/* Owns an object of the library: eddy::handle<eddy_stream, eddy_stream_close> */
template <auto close> struct closer {
        template <typename T> void operator()(T *object) const noexcept { (void) close(object); }
};
template <typename T, auto close> using handle = std::unique_ptr<T, closer<close>>;

/* Calls 'fn', and returns its result, or 0 if it has none. */
template <typename F> int invoke(F &fn)
{
        using result = std::invoke_result_t<F &>;

        static_assert(std::is_void_v<result> || std::is_same_v<result, int>,
                      "the callable of a task returns int or void");
        if constexpr (std::is_void_v<result>)
                return fn(), 0;
        else
                return fn();
}

/*
 * Returns a function that calls 'work', for calls that do not use (fn, arg) after they return:
 * eddy_to_thread(eddy::entry(work), &work).  An exception that leaves 'work' calls
 * std::terminate().
 */
template <typename F> constexpr eddy_task_fn *entry(F &) noexcept
{
        return [](void *arg) noexcept { return invoke(*static_cast<F *>(arg)); };
}

/* The first exception that left a task, and the error with which that task failed. */
class failure
{
#if defined(__cpp_exceptions)
      public:
        template <typename F> int call(F &fn)
        {
                try {
                        return invoke(fn);
                } catch (const error &thrown) {
                        return keep(thrown.number < 0 ? thrown.number : EDDY_E_TASK_THREW);
                } catch (const std::bad_alloc &) {
                        return keep(-ENOMEM);
                } catch (...) {
                        if (!std::current_exception())
                                throw; /* pthread_exit() unwinds */
                        return keep(EDDY_E_TASK_THREW);
                }
        }

        /* Returns 'result', or throws the exception that is its reason. */
        int check(int result)
        {
                if (first && result == number)
                        std::rethrow_exception(std::exchange(first, nullptr));
                return result;
        }

      private:
        /* An error(-ECANCELED) is not kept: a cancelled task may end with it without failing. */
        int keep(int error_number) noexcept
        {
                if (!first && error_number != -ECANCELED) {
                        first = std::current_exception();
                        number = error_number;
                }
                return error_number;
        }

        std::exception_ptr first;
        int number = 0;
#else
      public:
        template <typename F> int call(F &fn) { return invoke(fn); }
        int check(int result) { return result; }
#endif
};

/*
 * A scope that ends with its block.  end() waits for the tasks.  Leaving the block without
 * end(), by return or by an exception, cancels the tasks and waits for them.  Declare the
 * objects that tasks borrow before the scope, so that they exist until the scope ends.
 */
class scope
{
      public:
        explicit scope(const eddy_scope_opts &opts = {}) { (eddy_scope_begin)(&inner, &opts); }
        scope(const scope &) = delete;
        scope &operator=(const scope &) = delete;
        ~scope()
        {
                if (has_ended)
                        return;
                eddy_scope_cancel(&inner);
                (void) eddy_scope_end(&inner);
        }

        /*
         * Moves 'fn' to the heap and starts it as a task; it is destroyed when the task ends, before
         * end() returns.  Errors: eddy_scope_start_task(); 'fn' is then destroyed.
         */
        template <typename F>
        int start(F &&fn, const eddy_task_opts &opts = {}, eddy_task **ret_task = nullptr)
        {
                auto held = std::make_unique<task<std::decay_t<F>>>(std::forward<F>(fn), tasks);
                int err = (eddy_scope_start_task)(&inner, held->run, held.get(), &opts, ret_task);

                if (err >= 0)
                        (void) held.release(); /* run() owns it: a started task always runs */
                return err;
        }

        /* Calls eddy_scope_end(), and throws if the scope's failure is an exception.  Call it once. */
        int end()
        {
                has_ended = true;
                return tasks.check(eddy_scope_end(&inner));
        }

        void cancel() noexcept { eddy_scope_cancel(&inner); }
        eddy_scope *get() noexcept { return &inner; }

      private:
        template <typename F> struct task {
                template <typename G>
                task(G &&from, failure &to) : fn(std::forward<G>(from)), tasks(to) {}
                static int run(void *arg)
                {
                        std::unique_ptr<task> self(static_cast<task *>(arg));

                        return self->tasks.call(self->fn);
                }

                F fn;
                failure &tasks;
        };

        eddy_scope inner = {};
        failure tasks;
        bool has_ended = false;
};

/* Calls 'call', which throws nothing; pthread_exit() may unwind it. */
template <typename F> int call_plain(void *call)
{
        return (*static_cast<F *>(call))();
}

/* Calls eddy_run() with a callable, and throws an exception that ended the callable. */
template <typename F> int run(F &&fn, const eddy_run_opts &opts = {})
{
        failure thrown;
        auto main = [&] { return thrown.call(fn); };

        return thrown.check((eddy_run)(call_plain<decltype(main)>, &main, &opts));
}

/* Calls eddy_call_timeout() with a callable, and throws an exception that ended the callable. */
template <typename F> int call_timeout(F &&fn, int64_t timeout_ns)
{
        failure thrown;
        auto call = [&] { return thrown.call(fn); };

        return thrown.check(eddy_call_timeout(call_plain<decltype(call)>, &call, timeout_ns));
}

} // namespace eddy

#endif
