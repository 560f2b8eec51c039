/*
 * test_http_text.c - what may be a method, a header's name and a header's value.
 */
#include "eddy/http_text.h"

#include "test.h"

/* By the list of RFC 9110, 5.6.2, not by the table of the library. */
static bool is_token_char(int c)
{
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               (c != 0 && strchr("!#$%&'*+-.^_`|~", c));
}

TEST(token_is_made_of_the_characters_of_the_rfc_and_no_other)
{
        for (int c = 0; c < 256; c++) {
                char text[3] = { 'a', (char) c, 'b' };

                CHECK_EQ(eddy_http_is_token(text + 1, 1), is_token_char(c));
                CHECK_EQ(eddy_http_is_token(text, 3), is_token_char(c));
        }
}

TEST(token_has_at_least_one_byte)
{
        CHECK(!eddy_http_is_token("", 0));
        CHECK(!eddy_http_is_token("GET", 0));
        CHECK(eddy_http_is_token("GET", 3));
}

TEST(value_holds_no_control_character_but_tab)
{
        for (int c = 0; c < 256; c++) {
                char text[3] = { 'a', (char) c, 'b' };
                bool is_control = c < 0x20 || c == 0x7F;

                CHECK_EQ(eddy_http_is_value(text, 3), c == '\t' || !is_control);
        }
        CHECK(eddy_http_is_value("", 0));
}

TEST(only_the_bytes_given_are_read)
{
        CHECK(eddy_http_is_token("GET /", 3));
        CHECK(!eddy_http_is_token("GET /", 4));
        CHECK(eddy_http_is_value("one\r\n", 3));
        CHECK(!eddy_http_is_value("one\r\n", 4));
}

TEST(safe_methods_and_put_and_delete_are_idempotent)
{
        static const char *const idempotent[] = {
                "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"
        };
        static const char *const others[] = { "POST", "PATCH", "CONNECT", "get", "GETS", "GE", "" };

        for (size_t i = 0; i < sizeof(idempotent) / sizeof(idempotent[0]); i++)
                CHECK(eddy_http_method_is_idempotent(idempotent[i]));
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                CHECK(!eddy_http_method_is_idempotent(others[i]));
}

TEST(headers_whose_names_end_like_a_secret_are_secret)
{
        static const char *const secret[] = {
                "Authorization", "proxy-authorization", "COOKIE",
                "Set-Cookie",    "x-goog-api-key",      "Api-Key",
                "X-Auth-Token",  "client-secret",       "key",
        };
        static const char *const others[] = { "Idempotency-Key", "X-Idempotency-Key",
                                              "Accept",          "keys",
                                              "Cookie2",         "" };

        for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
                CHECK(eddy_http_header_is_secret(secret[i]));
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                CHECK(!eddy_http_header_is_secret(others[i]));
        CHECK(!eddy_http_header_is_secret(NULL));
}
