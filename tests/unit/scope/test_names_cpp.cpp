/*
 * test_names_cpp.cpp - in C++: functions in namespaces and classes have their
 * names, and lambdas can be started, whatever they contain.
 */
#include <cstring>
#include <string>

#include "eddy/eddy.h"
#include "eddy/test.h"

extern "C" {
#include "test.h"
}

static std::string reported;

static void tell(const char *line, void *)
{
        reported += std::string(line) + "\n";
}

static bool dump_says(const char *words)
{
        reported.clear();
        CHECK_EQ(eddy_dump(tell, nullptr), 0);
        return reported.find(words) != std::string::npos;
}

namespace net
{
int serve(void *)
{
        return eddy_sleep(EDDY_MS(1));
}

struct server {
        static int run(void *)
        {
                return eddy_sleep(EDDY_MS(1));
        }
};

template <class First, class Second> int both(void *)
{
        return eddy_sleep(EDDY_MS(1));
}
} // namespace net

static int starts_functions(void *)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, nullptr);
        CHECK_EQ(eddy_scope_start(&scope, net::serve, nullptr), 0);
        CHECK(dump_says("    net::serve is ready\n"));
        CHECK_EQ(eddy_scope_start(&scope, net::server::run, nullptr), 0);
        CHECK(dump_says("    net::server::run is ready\n"));
        /* Its place is all that is known. */
        CHECK_EQ(eddy_scope_start(&scope, net::both<int, long>, nullptr), 0);
        CHECK(!dump_says("net::both"));
        CHECK_EQ(::eddy_scope_start(&scope, ::net::serve, nullptr), 0);
        CHECK(dump_says("    ::net::serve is ready\n"));
        return eddy_scope_end(&scope);
}

TEST(functions_in_namespaces_and_classes_name_their_tasks)
{
        CHECK_EQ(eddy_test_run(starts_functions, nullptr, nullptr, nullptr), 0);
}

static int starts_lambdas(void *)
{
        struct pair {
                int first, second, sum;
        } pair = { 40, 2, 0 };
        eddy_call calls[] = { EDDY_CALL(net::serve, nullptr), EDDY_CALL(
                                                                      [](void *) {
                                                                              int a = 1, b = 1;
                                                                              return a + b;
                                                                      },
                                                                      nullptr) };
        eddy_task *task = nullptr;
        eddy_scope scope;
        int err, result;

        eddy_scope_begin(&scope, nullptr);
        err = eddy_scope_start(
                &scope,
                [](void *arg) {
                        auto *both = static_cast<struct pair *>(arg);
                        int a = both->first, b = both->second;

                        both->sum = a + b;
                        return 0;
                },
                &pair);
        CHECK_EQ(err, 0);
        err = eddy_scope_start_task(
                &scope,
                [](void *) {
                        int a = 7, b = 1;
                        return a + b;
                },
                nullptr, nullptr, &task);
        CHECK_EQ(err, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(pair.sum, 42);
        CHECK_EQ(eddy_task_result(task, &result), 0);
        CHECK_EQ(result, 8);
        CHECK(strstr(eddy_task_name(task), "(") == nullptr);
        eddy_task_release(task);
        CHECK_EQ(eddy_gather(calls, 2, 0), 0);
        CHECK_EQ(calls[1].result, 2);
        return 0;
}

TEST(a_lambda_with_commas_can_be_started)
{
        CHECK_EQ(eddy_test_run(starts_lambdas, nullptr, nullptr, nullptr), 0);
}
