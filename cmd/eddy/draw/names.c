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

enum { SLOTS_FIRST = 64, ROOM_FIRST = 1024 };

void ed_draw_names_fini(struct ed_draw_names *names)
{
        eddy_free(names->text);
        eddy_free(names->starts);
        eddy_free(names->slots);
        memset(names, 0, sizeof(*names));
}

const char *ed_draw_names_text(const struct ed_draw_names *names, uint32_t number)
{
        return number == ED_DRAW_NAMELESS ? "" : names->text + names->starts[number - 1];
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

static uint32_t *slot_find(const struct ed_draw_names *names, const char *text)
{
        for (uint64_t at = ed_draw_hash(text, strlen(text));; at++) {
                uint32_t *slot = &names->slots[at & (names->slots_room - 1)];

                if (*slot == 0 || strcmp(ed_draw_names_text(names, *slot), text) == 0)
                        return slot;
        }
}

static int slots_grow(struct ed_draw_names *names)
{
        uint32_t room = names->slots_room ? 2 * names->slots_room : SLOTS_FIRST;
        uint32_t *slots = eddy_malloc(room * sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        memset(slots, 0, room * sizeof(*slots));
        eddy_free(names->slots);
        names->slots = slots;
        names->slots_room = room;
        for (uint32_t i = 1; i <= names->count; i++)
                *slot_find(names, ed_draw_names_text(names, i)) = i;
        return 0;
}

static int text_append(struct ed_draw_names *names, const char *text)
{
        size_t bytes = strlen(text) + 1, room = names->room ? names->room : ROOM_FIRST;
        char *grown;
        int err = ed_draw_grow(&names->starts, &names->starts_room, names->count,
                               sizeof(*names->starts));

        if (err < 0)
                return err;
        while (room < names->bytes + bytes)
                room *= 2;
        if (room > names->room) {
                grown = eddy_realloc(names->text, room);
                if (!grown)
                        return -ENOMEM;
                names->text = grown;
                names->room = room;
        }
        memcpy(names->text + names->bytes, text, bytes);
        names->starts[names->count++] = (uint32_t) names->bytes;
        names->bytes += bytes;
        return 0;
}

int ed_draw_names_add(struct ed_draw_names *names, const char *text, size_t bytes,
                      uint32_t *ret_number)
{
        char kept[ED_DRAW_NAME_BYTES];
        uint32_t *slot;

        text_keep(text, bytes, kept);
        if (kept[0] == '\0') {
                *ret_number = ED_DRAW_NAMELESS;
                return 0;
        }
        if (2 * names->count >= names->slots_room && slots_grow(names) < 0)
                return -ENOMEM;
        slot = slot_find(names, kept);
        if (*slot == 0) {
                if (text_append(names, kept) < 0)
                        return -ENOMEM;
                *slot = names->count;
        }
        *ret_number = *slot;
        return 0;
}
