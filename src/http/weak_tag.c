/*
 * http/weak_tag.c - see weak_tag.h.
 */
#include "http/weak_tag.h"

#include <stdio.h>
#include <strings.h>

#include "wire/entity_tag.h"

bool ed_http_is_strong_tag(const struct eddy_http_header *header)
{
        return strcasecmp(header->name, "ETag") == 0 && strncmp(header->value, "W/", 2) != 0;
}

size_t ed_http_weak_tag_bytes(const struct eddy_http_header *header)
{
        return strlen(header->value) + sizeof("W/");
}

char *ed_http_tag_weaken(struct eddy_http_header *header, char *text)
{
        const size_t bytes = ed_http_weak_tag_bytes(header);

        snprintf(text, bytes, "W/%s", header->value);
        header->value = text;
        return text + bytes;
}

bool ed_http_has_weak_tag(const eddy_http_exchange *exchange, const struct eddy_http_header *header)
{
        struct eddy_http_header field;
        bool is_known = false;

        for (size_t i = 0; exchange->ops->header_at(exchange, i, &field) == 0; i++) {
                if (strcasecmp(field.name, "If-None-Match") != 0)
                        continue;
                if (ed_entity_tags_have(field.value, header->value, true))
                        return false;
                is_known |= ed_entity_tags_have(field.value, header->value, false);
        }
        return is_known;
}
