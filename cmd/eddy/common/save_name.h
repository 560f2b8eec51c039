/*
 * common/save_name.h - names of saved files: from an id or the end of a URL, and a Content-Type. No
 * I/O.
 */
#ifndef ED_CMD_COMMON_SAVE_NAME_H
#define ED_CMD_COMMON_SAVE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        ED_SAVE_NAME_BYTES = 256, /* a name has at most 255 bytes, and a NUL */
        ED_SAVE_TAG_DIGITS = 16,
};

/* Where the text of a name comes from. */
enum ed_save_origin {
        ED_SAVE_ID, /* an id: the name gets the ending of the type, such as ".mp3", or ".bin" if the
                        type is NULL or not known, unless the text ends with it */
        ED_SAVE_URL, /* the end of a URL: a text with a dot keeps its ending; another one gets the
                        ending of the type, if that is known */
};

/*
 * Make a name from any bytes. Control characters, the characters / < > : " \ | ? *, bytes that are
 * not UTF-8, a dot or a hyphen at the start, and a dot or a blank at the end become "_"; a name that
 * Windows reserves, such as "con", gets "_" in front; an empty name is "_". Then follows the ending.
 * A name that differs from the text has "-" and the digits of 'tag' before its ending, because
 * other texts may lead to it; 'is_tagged' adds them to every name. A name that is too long is cut at
 * a character.
 */
void ed_save_name(enum ed_save_origin origin, const char *text, size_t bytes, const char *type,
                  uint64_t tag, bool is_tagged, char name[ED_SAVE_NAME_BYTES]);

/* Put another tag into a name that has a tag. */
void ed_save_name_set_tag(char name[ED_SAVE_NAME_BYTES], uint64_t tag);

/* Returns the ending of a Content-Type, with its dot; "" for NULL and for a type that is not known. */
const char *ed_save_ending(const char *type);

#endif
