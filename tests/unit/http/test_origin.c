/*
 * test_origin.c - the origin of a URL: checks as in a request, and one text for each origin.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/http_text.h"

static void check_origin(const char *url, const char *expected)
{
        char origin[EDDY_HTTP_ORIGIN_BYTES];

        CHECK_EQ(eddy_http_url_origin(url, origin), 0);
        CHECK_STR(origin, expected);
}

static void check_refused(const char *url, int expected)
{
        char origin[EDDY_HTTP_ORIGIN_BYTES] = "as before";

        CHECK_EQ(eddy_http_url_origin(url, origin), expected);
        CHECK_STR(origin, "as before");
}

TEST(equal_origins_have_equal_texts)
{
        check_origin("http://h", "http://h");
        check_origin("HTTP://EXAMPLE.com:80/a?b#c", "http://example.com");
        check_origin("https://example.com:443/", "https://example.com");
        check_origin("http://example.com:443/", "http://example.com:443");
        check_origin("https://user:secret@example.com:8443/x@y", "https://example.com:8443");
        check_origin("http://[::1]:8080/", "http://[::1]:8080");
        check_origin("http://127.0.0.1", "http://127.0.0.1");
}

TEST(a_host_that_is_not_ascii_has_the_text_of_its_ascii_form)
{
        check_origin("http://b\xc3\xbc"
                     "cher.example:8080/x",
                     "http://xn--bcher-kva.example:8080");
        check_origin("http://xn--bcher-kva.example:8080/x", "http://xn--bcher-kva.example:8080");
}

TEST(the_longest_host_fits)
{
        char url[300], expected[300], host[254];

        memset(host, 'a', sizeof(host));
        for (size_t i = 63; i < sizeof(host); i += 64)
                host[i] = '.';
        host[253] = '\0';
        snprintf(url, sizeof(url), "https://%s:65535/", host);
        snprintf(expected, sizeof(expected), "https://%s:65535", host);
        check_origin(url, expected);
}

TEST(a_url_that_no_request_can_have_is_refused)
{
        char url[5000];

        check_refused(NULL, EDDY_E_URL_INVALID);
        check_refused("", EDDY_E_URL_INVALID);
        check_refused("/path", EDDY_E_URL_INVALID);
        check_refused("http://", EDDY_E_URL_INVALID);
        check_refused("http://h:65536/", EDDY_E_URL_INVALID);
        check_refused("http://h/%zz", EDDY_E_URL_INVALID);
        check_refused("ftp://h/", EDDY_E_URL_SCHEME);
        check_refused("http://a%3Ab:c@h/", EDDY_E_URL_CREDENTIALS);
        check_refused("http://a:%00@h/", EDDY_E_URL_CREDENTIALS);
        memset(url, 'u', sizeof(url));
        memcpy(url, "http://", 7);
        snprintf(url + sizeof(url) - 20, 20, "@h/");
        check_refused(url, EDDY_E_URL_CREDENTIALS);
        /* A label that IDNA does not allow: a mark without a letter. */
        check_refused("http://\xcc\x81.example/", EDDY_E_DNS_BAD_NAME);
}

static void *refuse(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes > 0)
                return NULL;
        free(ptr);
        return NULL;
}

TEST(without_memory_credentials_cannot_be_checked)
{
        eddy_alloc_set(refuse, NULL);
        check_refused("http://user:secret@h/", -ENOMEM);
        eddy_alloc_set(NULL, NULL);
}
