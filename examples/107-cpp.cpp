/*
 * 107-cpp - C++20: requests as tasks from lambdas, in a scope that an exception ends.
 *
 * Each lambda owns its URL and writes to the row of its answer, which is in the caller's frame. A
 * status of 400 or more is an exception: it ends its task, the scope cancels the other requests, and
 * end() throws the exception again. The client is closed on every way out.
 *
 * Run: 107-cpp $MOCK/bytes/5 $MOCK/bytes/10
 * Time: wall 0 s
 * Output:
 *     200, 5 bytes: $MOCK/bytes/5
 *     200, 10 bytes: $MOCK/bytes/10
 * Run: 107-cpp $MOCK/delay/9 $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     107-cpp: status 404: $MOCK/status/404
 * Run: 107-cpp $MOCK/bytes/5 http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     107-cpp: Connection refused
 * Run: timeout --foreground --preserve-status -s INT 1 107-cpp $MOCK/delay/9 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     107-cpp: stopped by Ctrl-C
 */
#include <cerrno>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "eddy/cpp.hpp"
#include "eddy/eddy.h"

namespace
{

using client = eddy::handle<eddy_http_client, eddy_http_client_close>;
using response = eddy::handle<eddy_http_response, eddy_http_response_close>;

struct answer {
        int status = 0;
        size_t bytes = 0;
};

client new_client()
{
        eddy_http_client_opts opts = { .timeouts = { .total_ns = EDDY_SEC(20) } };
        eddy_http_client *made = nullptr;

        eddy::check(eddy_http_client_new(&opts, &made));
        return client(made);
}

answer fetch(eddy_http_client *client, const std::string &url)
{
        eddy_http_request request = { .url = url.c_str() };
        eddy_http_response *sent = nullptr;
        const void *text = nullptr;
        answer answer;

        eddy::check(eddy_http_client_send(client, &request, &sent));
        response owned(sent);
        answer.status = eddy_http_response_status(sent);
        if (answer.status >= 400)
                throw std::runtime_error("status " + std::to_string(answer.status) + ": " + url);
        eddy::check(eddy_http_response_body(sent, &text, &answer.bytes));
        return answer;
}

std::vector<answer> fetch_all(const std::vector<std::string> &urls)
{
        std::vector<answer> answers(urls.size());
        client client = new_client();
        eddy::scope scope({ .timeout_ns = EDDY_SEC(30) }); /* last: its tasks borrow the others */

        for (size_t i = 0; i < urls.size(); i++)
                scope.start([&row = answers[i], &client, url = urls[i]] { row = fetch(client.get(), url); },
                            { .name = "fetch" });
        eddy::check(scope.end());
        return answers;
}

} // namespace

int main(int argc, char **argv)
{
        const std::vector<std::string> urls(argv + 1, argv + argc);

        try {
                std::vector<answer> answers;

                eddy::check(eddy::run([&] { answers = fetch_all(urls); }));
                for (size_t i = 0; i < urls.size(); i++)
                        std::printf("%d, %zu bytes: %s\n", answers[i].status, answers[i].bytes, urls[i].c_str());
                return 0;
        } catch (const std::exception &error) {
                const bool is_stopped = eddy_run_signal() != 0;

                std::fprintf(stderr, "107-cpp: %s\n", is_stopped ? "stopped by Ctrl-C" : error.what());
                return is_stopped ? 130 : 1;
        }
}
