/*
 * http/h2_request.c - writes the head of a client's request by HTTP/2.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/http_text.h"
#include "http/h2_client.h"
#include "http/h2_fields.h"
#include "wire/http1_parts.h"

enum { NAME_ROOM = 64, COOKIE_BYTES_MIN = 20 };

static bool is_named(const struct ed_http_field *field, const char *name)
{
        return ed_http1_same_name(field->name, field->name_bytes, name, strlen(name));
}

/*
 * Secrets are not kept in tables of HPACK, where their guesses could be tried (RFC 7541, 7.1). A long
 * Cookie cannot be guessed.
 */
static unsigned flags_of(const struct ed_http_field *field)
{
        char name[NAME_ROOM];

        if (field->name_bytes >= sizeof(name))
                return 0;
        memcpy(name, field->name, field->name_bytes);
        name[field->name_bytes] = '\0';
        if (!eddy_http_header_is_secret(name))
                return 0;
        return is_named(field, "cookie") && field->value_bytes >= COOKIE_BYTES_MIN ? 0
                                                                                   : ED_H2_SECRET;
}

/* Returns true if a header Connection names the field, which is for the connection of HTTP/1 then. */
static bool is_of_hop(const struct ed_http_request_fields *fields,
                      const struct ed_http_field *field)
{
        for (size_t i = 0; i < fields->count; i++) {
                const struct ed_http_field *other = &fields->list[i];
                struct eddy_slice name;
                size_t at = 0;

                if (!is_named(other, "connection"))
                        continue;
                while (ed_http1_list_next(other->value, other->value_bytes, &at, &name))
                        if (ed_http1_same_name(name.data, name.bytes, field->name,
                                               field->name_bytes))
                                return true;
        }
        return false;
}

/* 'name' is a constant. */
static inline void put(struct ed_h2_fields *out, const char *name, const char *value,
                       size_t value_bytes)
{
        ed_h2_fields_put(out, name, strlen(name), value, value_bytes);
}

static bool has_connection(const struct ed_http_request_fields *fields)
{
        for (size_t i = 0; i < fields->count; i++)
                if (is_named(&fields->list[i], "connection"))
                        return true;
        return false;
}

static void add_headers(struct ed_h2_fields *out, const struct ed_http_request_fields *fields)
{
        bool has_hops = has_connection(fields);

        for (size_t i = 0; i < fields->count; i++) {
                const struct ed_http_field *field = &fields->list[i];

                if (fields->has_host && i == fields->host_at)
                        continue;
                if (ed_unlikely(has_hops) && is_of_hop(fields, field))
                        continue;
                /* RFC 9113, 8.2.2: TE has no other value. */
                if (is_named(field, "te")) {
                        if (ed_http1_list_has(field->value, field->value_bytes, "trailers"))
                                put(out, "te", "trailers", 8);
                        continue;
                }
                ed_h2_fields_add(out, field->name, field->name_bytes, field->value,
                                 field->value_bytes, flags_of(field));
        }
}

/* Returns the target's text, which may be in '*ret_memory' (owned), or NULL: -ENOMEM. */
static const char *path_of(const struct ed_url *url, size_t *ret_bytes, char **ret_memory)
{
        *ret_bytes = url->slash_first + url->target_bytes;
        if (!url->slash_first)
                return url->target;
        if (url->target_bytes == 0)
                return "/";
        *ret_memory = ed_alloc(*ret_bytes);
        if (*ret_memory) {
                **ret_memory = '/';
                memcpy(*ret_memory + 1, url->target, url->target_bytes);
        }
        return *ret_memory;
}

int ed_h2_request_open(struct ed_h2_request *exchange, bool has_body)
{
        const struct ed_http_request_fields *fields = &exchange->base->fields;
        const struct ed_http_field *given =
                fields->has_host ? &fields->list[fields->host_at] : NULL;
        char host[ED_URL_AUTHORITY_ROOM], *memory = NULL;
        size_t path_bytes, host_bytes = 0;
        struct ed_h2_fields out;
        const char *path = path_of(&fields->url, &path_bytes, &memory);
        int err;

        if (!path)
                return -ENOMEM;
        if (!given)
                host_bytes = ed_url_authority(&fields->url, host);
        ed_h2_fields_begin(&out, exchange->h2.h2);
        put(&out, ":method", fields->method, fields->method_bytes);
        put(&out, ":scheme", fields->url.is_https ? "https" : "http", fields->url.is_https ? 5 : 4);
        put(&out, ":authority", given ? given->value : host,
            given ? given->value_bytes : host_bytes);
        put(&out, ":path", path, path_bytes);
        add_headers(&out, fields);
        err = ed_h2_fields_end(&out);
        if (err >= 0)
                err = ed_h2_stream_request(&exchange->h2, has_body);
        ed_free(memory);
        return err;
}
