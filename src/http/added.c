/*
 * http/added.c - see added.h.
 */
#include "http/added.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "eddy/http_text.h"
#include "wire/http1.h"

bool ed_http_header_is_of_content(const struct eddy_http_header *header)
{
        static const char *const names[] = { "ETag", "Expires", "Last-Modified" };

        /* A cookie that was added with "no-store" must not be stored with an error either. */
        if (strcasecmp(header->name, "Cache-Control") == 0)
                return !ed_http1_list_has(header->value, strlen(header->value), "no-store");
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcasecmp(header->name, names[i]) == 0)
                        return true;
        return strncasecmp(header->name, "Content-", 8) == 0;
}

bool ed_http_header_is_allowed(const struct eddy_http_header *header)
{
        if (!header->name || !header->value ||
            !eddy_http_is_token(header->name, strlen(header->name)) ||
            !eddy_http_is_value(header->value, strlen(header->value)))
                return false;
        if (strcasecmp(header->name, "connection") == 0)
                return strcasecmp(header->value, "close") == 0;
        return strcasecmp(header->name, "content-length") != 0 &&
               strcasecmp(header->name, "transfer-encoding") != 0;
}

int ed_http_added_append(struct ed_buf *added, const char *name, const char *value,
                         char refused[ED_HTTP_REFUSED_BYTES])
{
        const struct eddy_http_header header = { name, value };
        size_t name_bytes, value_bytes;
        char *at;
        int err;

        if (!ed_http_header_is_allowed(&header))
                return ed_http_refuse_header(refused, &header);
        name_bytes = strlen(name) + 1;
        value_bytes = strlen(value) + 1;
        err = ed_buf_reserve(added, name_bytes + value_bytes, &at);
        if (err == -EMSGSIZE)
                return ed_http_refuse(refused, "its added headers are larger than %d bytes",
                                      ED_HTTP_ADDED_BYTES_MAX);
        if (err < 0)
                return err;
        memcpy(at, name, name_bytes);
        memcpy(at + name_bytes, value, value_bytes);
        ed_buf_grow(added, name_bytes + value_bytes);
        return 0;
}
