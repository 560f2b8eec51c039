/*
 * core_context.cpp - Boost.Context, without a scheduler.
 *
 *     core_context switch | generator COUNT
 */
#include <boost/context/fiber.hpp>
#include <boost/coroutine2/all.hpp>
#include <boost/version.hpp>

#include <utility>

#include "../bench.h"

namespace context = boost::context;

/*
 * The bare switch.  Two contexts resume each other; one operation is one
 * switch, so a resume and the return to it are two.  No other program has
 * this row: it shows how much of a yield is the switch itself.
 */
static long row_switch(long count, struct bench_span *span)
{
        long done = 0;

        context::fiber other([&](context::fiber &&back) {
                for (;;) {
                        done++;
                        back = std::move(back).resume();
                }
                return std::move(back);
        });
        other = std::move(other).resume();
        done = 0;
        bench_span_begin(span);
        while (done < count) {
                done++;
                other = std::move(other).resume();
        }
        bench_span_end(span);
        return done;
}

/* Boost.Coroutine2, which is built on it: one value of a coroutine that counts. */
static long row_generator(long count, struct bench_span *span)
{
        using coroutine = boost::coroutines2::coroutine<long>;
        long done = 0;

        coroutine::pull_type values([&](coroutine::push_type &yield) {
                for (long i = 0; i < count; i++)
                        yield(i);
        });
        bench_span_begin(span);
        for (long value : values)
                if (value != done++)
                        bench_die("generator", "a value is missing");
        bench_span_end(span);
        return done;
}

int main(int argc, char **argv)
{
        struct bench_span span;
        const bool is_switch = argc > 2 && strcmp(argv[1], "switch") == 0;
        long done;

        if (!is_switch && (argc < 3 || strcmp(argv[1], "generator") != 0))
                bench_die("usage", "core_context switch | generator COUNT");
        const long count = bench_count(argv[2], 2000000000);

        done = is_switch ? row_switch(count, &span) : row_generator(count, &span);
        bench_core_print("Boost.Context " BOOST_LIB_VERSION, argv[1], done, &span, "");
        return 0;
}
