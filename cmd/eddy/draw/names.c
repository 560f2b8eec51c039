/*
 * draw/names.c - see names.h.
 */
#include "draw/names.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "draw/table.h"
#include "eddy/alloc.h"

#define ELLIPSIS "\xe2\x80\xa6"

struct ed_draw_name {
        struct ed_hash_link link;
        uint32_t number;
        char text[];
};

void ed_draw_names_fini(struct ed_draw_names *names)
{
        ed_hash_map_free(&names->map);
        eddy_free(names->list);
        memset(names, 0, sizeof(*names));
}

const char *ed_draw_names_text(const struct ed_draw_names *names, uint32_t number)
{
        return number == ED_DRAW_NAMELESS ? "" : names->list[number - 1]->text;
}

/* Copy a text without NULs, cut at a character boundary. */
static void text_keep(const char *text, size_t bytes, char room[ED_DRAW_NAME_BYTES])
{
        bool is_cut = bytes >= ED_DRAW_NAME_BYTES;

        if (is_cut) {
                bytes = ED_DRAW_NAME_BYTES - sizeof(ELLIPSIS);
                while (bytes > 0 && ((unsigned char) text[bytes] & 0xc0) == 0x80)
                        bytes--;
        }
        for (size_t i = 0; i < bytes; i++)
                room[i] = text[i] ? text[i] : ' ';
        room[bytes] = '\0';
        if (is_cut)
                memcpy(room + bytes, ELLIPSIS, sizeof(ELLIPSIS));
}

static const struct ed_draw_name *name_find(const struct ed_draw_names *names, const char *text,
                                            uint64_t hash)
{
        ed_hash_map_each (link, &names->map, hash) {
                const struct ed_draw_name *name = (const struct ed_draw_name *) link;

                if (strcmp(name->text, text) == 0)
                        return name;
        }
        return NULL;
}

static const struct ed_draw_name *name_add(struct ed_draw_names *names, const char *text,
                                           uint64_t hash)
{
        size_t bytes = strlen(text) + 1;
        struct ed_draw_name *name;

        if (ed_draw_grow(&names->list, &names->list_room, names->count, sizeof(*names->list)) < 0)
                return NULL;
        name = eddy_malloc(sizeof(*name) + bytes);
        if (!name)
                return NULL;
        memcpy(name->text, text, bytes);
        names->list[names->count++] = name;
        name->number = names->count;
        ed_hash_map_add(&names->map, &name->link, hash);
        return name;
}

int ed_draw_names_add(struct ed_draw_names *names, const char *text, size_t bytes,
                      uint32_t *ret_number)
{
        char kept[ED_DRAW_NAME_BYTES];
        const struct ed_draw_name *name;
        uint64_t hash;

        text_keep(text, bytes, kept);
        if (kept[0] == '\0') {
                *ret_number = ED_DRAW_NAMELESS;
                return 0;
        }
        hash = ed_hash_map_hash(kept, strlen(kept));
        name = name_find(names, kept, hash);
        if (!name)
                name = name_add(names, kept, hash);
        if (!name)
                return -ENOMEM;
        *ret_number = name->number;
        return 0;
}
