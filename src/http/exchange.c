/*
 * http/exchange.c - the public calls of an exchange, by its protocol's table of operations.
 */
#include "http/exchange.h"

#include <errno.h>
#include <strings.h>

#include "base/def.h"
#include "scope/suspend.h"

const char *eddy_http_exchange_method(const eddy_http_exchange *exchange)
{
        return exchange->ops->method(exchange);
}

const char *eddy_http_exchange_target(const eddy_http_exchange *exchange)
{
        return exchange->ops->target(exchange);
}

const char *eddy_http_exchange_path(const eddy_http_exchange *exchange)
{
        return exchange->ops->path(exchange);
}

const char *eddy_http_exchange_query(const eddy_http_exchange *exchange)
{
        return exchange->ops->query(exchange);
}

const char *eddy_http_exchange_host(const eddy_http_exchange *exchange)
{
        return exchange->ops->host(exchange);
}

const char *eddy_http_exchange_header(const eddy_http_exchange *exchange, const char *name)
{
        return exchange->ops->header(exchange, name);
}

int eddy_http_exchange_header_at(const eddy_http_exchange *exchange, size_t i,
                                 struct eddy_http_header *ret_header)
{
        return exchange->ops->header_at(exchange, i, ret_header);
}

int eddy_http_exchange_trailer_at(const eddy_http_exchange *exchange, size_t i,
                                  struct eddy_http_header *ret_trailer)
{
        return exchange->ops->trailer_at(exchange, i, ret_trailer);
}

void ed_http_exchange_accept_coding(const eddy_http_exchange *exchange,
                                    struct ed_accept_coding *ret_accept)
{
        struct eddy_http_header header;

        ed_accept_coding_init(ret_accept);
        for (size_t i = 0; exchange->ops->header_at(exchange, i, &header) == 0; i++)
                if (strcasecmp(header.name, "Accept-Encoding") == 0)
                        ed_accept_coding_add(ret_accept, header.value);
}

int ed_http_exchange_read_begin(int failed, size_t bytes, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (err < 0)
                return err;
        return bytes == 0 ? -EINVAL : failed;
}

const char *eddy_http_exchange_trailer(const eddy_http_exchange *exchange, const char *name)
{
        struct eddy_http_header trailer;

        for (size_t i = 0; exchange->ops->trailer_at(exchange, i, &trailer) == 0; i++)
                if (strcasecmp(trailer.name, name) == 0)
                        return trailer.value;
        return NULL;
}

int64_t eddy_http_exchange_read(eddy_http_exchange *exchange, void *buf, size_t bytes)
{
        return exchange->ops->read(exchange, buf, bytes);
}

int eddy_http_exchange_body(eddy_http_exchange *exchange, const void **ret_data, size_t *ret_bytes)
{
        return exchange->ops->body(exchange, ret_data, ret_bytes);
}

int eddy_http_exchange_add_header(eddy_http_exchange *exchange, const char *name, const char *value)
{
        return exchange->ops->add_header(exchange, name, value);
}

int eddy_http_exchange_add_trailer(eddy_http_exchange *exchange, const char *name,
                                   const char *value)
{
        return exchange->ops->add_trailer(exchange, name, value);
}

int eddy_http_exchange_early_hints(eddy_http_exchange *exchange,
                                   const struct eddy_http_header *headers, size_t headers_count)
{
        return exchange->ops->early_hints(exchange, headers, headers_count);
}

/* An answer is about to begin. */
static int begin(const eddy_http_exchange *exchange)
{
        int err = 0;

        for (struct ed_http_before *before = exchange->before; before && err >= 0;
             before = before->outer)
                err = before->fn(before);
        return err;
}

int eddy_http_exchange_respond(eddy_http_exchange *exchange, int status,
                               const struct eddy_http_header *headers, size_t headers_count,
                               const void *body, size_t body_bytes)
{
        int err = begin(exchange);

        if (ed_unlikely(err < 0))
                return err;
        if (exchange->filter)
                return exchange->filter->respond(exchange->filter, exchange, status, headers,
                                                 headers_count, body, body_bytes);
        return exchange->ops->respond(exchange, status, headers, headers_count, body, body_bytes);
}

int eddy_http_exchange_begin(eddy_http_exchange *exchange, int status,
                             const struct eddy_http_header *headers, size_t headers_count,
                             int64_t body_bytes)
{
        int err = begin(exchange);

        if (ed_unlikely(err < 0))
                return err;
        if (exchange->filter)
                return exchange->filter->begin(exchange->filter, exchange, status, headers,
                                               headers_count, body_bytes);
        return exchange->ops->begin(exchange, status, headers, headers_count, body_bytes);
}

int eddy_http_exchange_write(eddy_http_exchange *exchange, const void *data, size_t bytes)
{
        if (exchange->filter)
                return exchange->filter->write(exchange->filter, exchange, data, bytes);
        return exchange->ops->write(exchange, data, bytes);
}

int64_t ed_http_exchange_send_file(eddy_http_exchange *exchange, const eddy_file *file,
                                   int64_t offset, size_t bytes)
{
        if (exchange->filter || !exchange->ops->send_file)
                return -ENOTSUP;
        return exchange->ops->send_file(exchange, file, offset, bytes);
}

int eddy_http_exchange_end(eddy_http_exchange *exchange)
{
        if (exchange->filter)
                return exchange->filter->end(exchange->filter, exchange);
        return exchange->ops->end(exchange);
}

int eddy_http_exchange_flush(eddy_http_exchange *exchange)
{
        if (exchange->filter)
                return exchange->filter->flush(exchange->filter, exchange);
        return exchange->ops->flush(exchange);
}

int eddy_http_exchange_upgrade(eddy_http_exchange *exchange, const struct eddy_http_header *headers,
                               size_t headers_count, eddy_stream **ret_stream,
                               const void **ret_early, size_t *ret_early_bytes)
{
        int err = begin(exchange);

        if (ed_unlikely(err < 0))
                return err;
        return exchange->ops->upgrade(exchange, headers, headers_count, ret_stream, ret_early,
                                      ret_early_bytes);
}

void eddy_http_exchange_abort(eddy_http_exchange *exchange)
{
        exchange->ops->abort(exchange);
}

void eddy_http_exchange_info(eddy_http_exchange *exchange, struct eddy_http_exchange_info *ret_info)
{
        exchange->ops->info(exchange, ret_info);
}
