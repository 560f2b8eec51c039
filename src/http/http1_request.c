/*
 * http/http1_request.c - writes the head of a request by HTTP/1.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/client.h"

/* Write the request line with a target of 'prefix', the URL's target, and "/" if that has none. */
static int write_target(struct ed_http1_writer *writer, struct ed_buf *out,
                        const struct ed_http_request_fields *fields, const char *prefix)
{
        const struct ed_url *url = &fields->url;
        size_t at = strlen(prefix);
        char *target = ed_alloc(at + 1 + url->target_bytes);

        if (!target)
                return -ENOMEM;
        memcpy(target, prefix, at);
        if (url->slash_first)
                target[at++] = '/';
        if (url->target_bytes > 0)
                memcpy(target + at, url->target, url->target_bytes);
        ed_http1_write_request(writer, out, fields->method, fields->method_bytes, target,
                               at + url->target_bytes);
        ed_free(target);
        return 0;
}

/*
 * Write the request line for a proxy, or for a caller that supplies the Host field. For a proxy write
 * this field too, unless the caller supplies it.
 */
static int write_other_line(struct ed_http1_writer *writer, struct ed_buf *out,
                            const struct ed_http_request_fields *fields)
{
        char prefix[sizeof("http://") + ED_URL_AUTHORITY_ROOM] = "", *host = prefix + 7;
        int err;

        if (fields->to_proxy) {
                memcpy(prefix, "http://", 7);
                (void) ed_url_authority(&fields->url, host);
        }
        err = write_target(writer, out, fields, prefix);
        if (err >= 0 && !fields->has_host)
                ed_http1_write_field(writer, "Host", 4, host, strlen(host));
        return err;
}

int ed_http1_request_write(const struct ed_http_request_fields *fields, struct ed_buf *out)
{
        struct ed_http1_writer writer;
        int err = 0;

        if (fields->to_proxy || fields->has_host)
                err = write_other_line(&writer, out, fields);
        else
                ed_http1_write_request_to(&writer, out, fields->method, fields->method_bytes,
                                          &fields->url);
        if (err < 0)
                return err;
        for (size_t i = 0; i < fields->count; i++) {
                const struct ed_http_field *field = &fields->list[i];

                if (fields->has_host && i == fields->host_at)
                        ed_http1_write_field(&writer, field->name, field->name_bytes, field->value,
                                             field->value_bytes);
                else
                        ed_http1_put_field(&writer, field->name, field->name_bytes, field->value,
                                           field->value_bytes);
        }
        if (fields->chunked)
                ed_http1_put_field(&writer, "Transfer-Encoding", 17, "chunked", 7);
        err = ed_http1_write_end(&writer);
        return err == -EMSGSIZE ? EDDY_E_HTTP_INVALID_REQUEST : err;
}
