/*
 * batch/request/sent.c - see sent.h.
 */
#include "batch/request/sent.h"

#include <string.h>
#include <strings.h>

size_t ed_sent_base_bytes(const char *base, const char *path)
{
        size_t bytes = strlen(base);

        while (bytes > 0 && base[bytes - 1] == '/')
                bytes--;
        /* "http://host/v1" and "/v1/models": bases often end with the /v1 that begins the path. */
        if (bytes > 3 && memcmp(base + bytes - 3, "/v1", 3) == 0 && strncmp(path, "/v1/", 4) == 0)
                bytes -= 3;
        return bytes;
}

bool ed_sent_has(const struct ed_sent *sent, const char *name)
{
        for (size_t i = 0; i < sent->count; i++)
                if (strcasecmp(sent->headers[i].name, name) == 0)
                        return true;
        return false;
}

void ed_sent_default(struct ed_sent *sent, const char *name, const char *value)
{
        if (!ed_sent_has(sent, name))
                sent->headers[sent->count++] = (struct eddy_http_header){ name, value };
}

void ed_sent_fill(struct ed_sent *sent, const struct ed_request *request,
                  const struct ed_headers *headers, const char *type)
{
        for (size_t i = 0; i < request->headers_count; i++)
                sent->headers[sent->count++] = request->headers[i];
        for (size_t i = 0; i < headers->count; i++)
                /* That of a form has its boundary. */
                if (request->parts_count == 0 ||
                    strcasecmp(headers->items[i].name, "Content-Type") != 0)
                        ed_sent_default(sent, headers->items[i].name, headers->items[i].value);
        if (request->body)
                ed_sent_default(sent, "Content-Type", "application/json");
        else if (request->parts_count > 0 && type)
                ed_sent_default(sent, "Content-Type", type);
        if (request->vendor && request->vendor->header)
                ed_sent_default(sent, request->vendor->header, request->vendor->value);
}
