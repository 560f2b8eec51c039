/*
 * test_text.c - text put together in a buffer is cut where that ends.
 */
#include "base/text.h"

#include "test.h"

TEST(pieces_are_added_one_after_the_other)
{
        char buf[32];
        struct ed_text text = { buf, sizeof(buf) };

        ed_text_add(&text, "%s is %d", "seven", 7);
        ed_text_add(&text, "%s", "");
        ed_text_add(&text, "%c", '.');
        CHECK_STR(buf, "seven is 7.");
        CHECK(text.at == buf + strlen(buf));
        CHECK_EQ(text.left, sizeof(buf) - strlen(buf));
}

TEST(a_text_that_does_not_fit_is_cut_and_the_end_stays_a_zero)
{
        char buf[8] = "xxxxxxx";
        struct ed_text text = { buf, sizeof(buf) - 1 };

        ed_text_add(&text, "%s", "abcdef");
        CHECK_STR(buf, "abcdef");
        CHECK_EQ(text.left, 1);
        text = (struct ed_text){ buf, sizeof(buf) - 1 };
        ed_text_add(&text, "%s", "abcdefg");
        CHECK_STR(buf, "abcdef");
        CHECK_EQ(buf[7], '\0');
        CHECK_EQ(text.left, 1);
        ed_text_add(&text, "%s", "h");
        CHECK_STR(buf, "abcdef");
        CHECK_EQ(text.left, 1);
}

TEST(a_buffer_of_nothing_is_not_written_to)
{
        char buf[2] = "x";
        struct ed_text text = { buf, 0 };

        ed_text_add(&text, "%s", "abc");
        CHECK_STR(buf, "x");
        CHECK(text.at == buf);
        CHECK_EQ(text.left, 0);
}

static void check_function(const char *text, const char *function)
{
        const char *begin = "";
        size_t bytes = ed_text_function(text, &begin);

        if (bytes != strlen(function) || strncmp(begin, function, bytes) != 0)
                test_fail(__FILE__, __LINE__, "in \"%s\": \"%.*s\", expected \"%s\"", text,
                          (int) bytes, begin, function);
}

TEST(a_function_in_the_text_of_a_call_is_an_identifier_or_a_path)
{
        check_function("serve_client", "serve_client");
        check_function("serve_client, &client", "serve_client");
        check_function("f1,", "f1");
        check_function("_x , y", "_x");
        check_function("&serve, NULL", "serve");
        check_function("net::serve, nullptr", "net::serve");
        check_function("::net::serve, nullptr", "::net::serve");
        check_function("job->run, job", "job->run");
        check_function("services.list.run, 0", "services.list.run");
        check_function("gr\xc3\xb6\xc3\x9f"
                       "er, x",
                       "gr\xc3\xb6\xc3\x9f"
                       "er");
}

TEST(any_other_expression_is_not_a_function)
{
        static const char *const texts[] = {
                "",
                ",",
                " ",
                "&",
                "::",
                "1f, x",
                "(serve), x",
                "(eddy_task_fn *) serve, x",
                "[](void *) { return 0; }, x",
                "a ? b : c, x",
                "calls[i].fn, x",
                "f(), x",
                "serve<int>, x",
                "net::, x",
                "job->, x",
                "job->1, x",
                ".run, x",
                "*run, x",
                "&&run, x",
                "a - b, x",
                "\"text\", x",
                "run x",
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                check_function(texts[i], "");
}
