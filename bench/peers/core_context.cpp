/*
 * core_context.cpp - Boost.Context: the bare switch, without a scheduler.
 *
 *     core_context switch COUNT
 *
 * Two contexts resume each other; one operation is one switch, so a resume
 * and the return to it are two.  No other program has this row: it shows how
 * much of a yield is the switch itself.
 */
#include <boost/context/fiber.hpp>
#include <boost/version.hpp>

#include <utility>

#include "../bench.h"

namespace context = boost::context;

int main(int argc, char **argv)
{
        struct bench_span span;
        long done = 0;

        if (argc < 3 || strcmp(argv[1], "switch") != 0)
                bench_die("usage", "core_context switch COUNT");
        const long count = bench_count(argv[2], 2000000000);

        context::fiber other([&](context::fiber &&back) {
                for (;;) {
                        done++;
                        back = std::move(back).resume();
                }
                return std::move(back);
        });
        other = std::move(other).resume();
        done = 0;
        bench_span_begin(&span);
        while (done < count) {
                done++;
                other = std::move(other).resume();
        }
        bench_span_end(&span);
        bench_core_print("Boost.Context " BOOST_LIB_VERSION, "switch", done, &span, "");
        return 0;
}
