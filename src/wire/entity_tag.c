/*
 * wire/entity_tag.c - see entity_tag.h.
 */
#include "wire/entity_tag.h"

#include <stddef.h>
#include <string.h>

static bool is_weak(const char *tag)
{
        return tag[0] == 'W' && tag[1] == '/';
}

/* Returns the end of the tag at 'at', or NULL. */
static const char *end_of(const char *at)
{
        if (is_weak(at))
                at += 2;
        if (*at++ != '"')
                return NULL;
        while (*at == '!' || (unsigned char) *at > '"')
                at++;
        return *at == '"' ? at + 1 : NULL;
}

static const char *skip(const char *at, const char *chars)
{
        return at + strspn(at, chars);
}

bool ed_entity_tag_is_valid(const char *tag)
{
        const char *end = end_of(tag);

        return end && !*end;
}

bool ed_entity_tags_have(const char *list, const char *tag, bool is_strong)
{
        const char *opaque = is_weak(tag) ? tag + 2 : tag;
        size_t bytes = strlen(opaque);

        list = skip(list, " \t,");
        if (list[0] == '*' && !*skip(list + 1, " \t"))
                return true;
        while (*list) {
                const char *end = end_of(list), *begin = is_weak(list) ? list + 2 : list;

                if (!end)
                        return false;
                if ((!is_strong || (!is_weak(list) && !is_weak(tag))) &&
                    (size_t) (end - begin) == bytes && memcmp(begin, opaque, bytes) == 0)
                        return true;
                list = skip(end, " \t");
                if (*list && *list != ',')
                        return false;
                list = skip(list, " \t,");
        }
        return false;
}
