/*
 * common/disposition.h - the file name in a Content-Disposition (RFC 6266, RFC 8187). No I/O.
 */
#ifndef ED_CMD_COMMON_DISPOSITION_H
#define ED_CMD_COMMON_DISPOSITION_H

#include <stddef.h>

/*
 * Copy the file name of a header's value, as UTF-8 without a NUL: "filename*", or else "filename". A
 * server chose the name, so a name is not used if it has a slash, a backslash, a control
 * character or one that turns the direction of text, begins with a dot, is not UTF-8, or has
 * 'room' bytes or more. Other characters may still be unsuitable for a file (common/save_name.h).
 *
 * Returns the bytes of the name; 0 if there is none that can be used, or the value is malformed, has
 * a parameter twice, or is NULL.
 */
size_t ed_disposition_name(const char *value, char *out, size_t room);

#endif
