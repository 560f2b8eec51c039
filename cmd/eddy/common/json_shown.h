/*
 * common/json_shown.h - JSON text for messages, without the escapes of control characters.
 */
#ifndef ED_CMD_COMMON_JSON_SHOWN_H
#define ED_CMD_COMMON_JSON_SHOWN_H

#include <stddef.h>

/*
 * Copy JSON text, in which a question mark replaces the escape of each control character. Returns the
 * bytes of the copy, which has no NUL at its end. The end of a text that is too long is left out.
 */
size_t ed_json_shown(char *room, size_t room_bytes, const char *json, size_t bytes);

#endif
