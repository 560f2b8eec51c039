/*
 * fuzz_url.c - any bytes as a URL, as a date and as Retry-After.
 *
 * A URL that is read gives a request and a Host that are read back, and is
 * read the same when it is put together again from its parts.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/http_date.h"
#include "wire/http1.h"
#include "wire/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

/* The request to it is one that our own reader takes. */
static void check_request(const struct ed_url *url)
{
        struct ed_http1_limits limits = { .line_bytes_max = 1 << 20,
                                          .head_bytes_max = 1 << 20,
                                          .fields_max = 4 };
        struct ed_http1_field fields[4];
        struct ed_http1_writer writer;
        struct ed_http1_head head;
        struct ed_buf buf;

        ed_buf_init(&buf, 1 << 20);
        ed_http1_write_request_to(&writer, &buf, "GET", 3, url);
        require(ed_http1_write_end(&writer) == 0);
        ed_http1_request_init(&head, fields, &limits);
        require(ed_http1_head_parse(&head, ed_buf_data(&buf), ed_buf_bytes(&buf)) ==
                (int64_t) ed_buf_bytes(&buf));
        require(head.target.bytes == url->slash_first + url->target_bytes);
        ed_buf_fini(&buf);
}

static void check_put_together(const struct ed_url *url)
{
        char authority[ED_URL_AUTHORITY_ROOM];
        size_t authority_bytes = ed_url_authority(url, authority);
        struct ed_url again;
        struct ed_buf buf;

        ed_buf_init(&buf, 1 << 20);
        require(ed_buf_append(&buf, "https://", url->is_https ? 8 : 4) == 0);
        if (!url->is_https)
                require(ed_buf_append(&buf, "://", 3) == 0);
        require(ed_buf_append(&buf, authority, authority_bytes) == 0);
        if (url->slash_first)
                require(ed_buf_append(&buf, "/", 1) == 0);
        require(ed_buf_append(&buf, url->target, url->target_bytes) == 0);
        /* The longest one may have grown by its slash. */
        if (ed_buf_bytes(&buf) <= ED_URL_BYTES_MAX) {
                require(ed_url_parse(ed_buf_data(&buf), ed_buf_bytes(&buf), &again) == 0);
                require(again.is_https == url->is_https && again.port == url->port);
                require(again.host_bytes == url->host_bytes);
                require(memcmp(again.host, url->host, url->host_bytes) == 0);
                require(again.host_kind == url->host_kind && !again.has_userinfo);
                require(again.target_bytes == url->target_bytes + url->slash_first);
        }
        ed_buf_fini(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        const char *text = (const char *) data;
        struct ed_url url;
        int64_t number;

        if (ed_url_parse(text, bytes, &url) == 0) {
                if (url.host_kind != ED_URL_NAME_IDN)
                        check_request(&url);
                check_put_together(&url);
        }
        if (eddy_http_date_parse(text, bytes, 1795235848, &number) == 0) {
                char date[EDDY_HTTP_DATE_BYTES + 1];
                int64_t again;

                require(eddy_http_date_format(number, date) == 0);
                require(eddy_http_date_parse(date, EDDY_HTTP_DATE_BYTES, 0, &again) == 0);
                require(again == number);
        }
        if (eddy_http_retry_after_parse(text, bytes, 1795235848, &number) == 0)
                require(number >= 0);
        return 0;
}
