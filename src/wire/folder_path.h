/*
 * wire/folder_path.h - converts the path of a URL to the name of a file in a folder.
 */
#ifndef ED_WIRE_FOLDER_PATH_H
#define ED_WIRE_FOLDER_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/def.h"

enum {
        ED_FOLDER_PATH_BYTES_MAX = 3072, /* of a name; a system call takes 4,095 */
        ED_FOLDER_PATH_PART_MAX = 255,   /* between two slashes */
        ED_FOLDER_PATH_QUOTED = 1 << 0,  /* flag: the path is percent-encoded, as in a URL */
};

/*
 * Decode a path without its first slash, such as "a/b%20c", to 'out', which has strlen(path) + 1
 * bytes. Without ED_FOLDER_PATH_QUOTED, a '%' is an ordinary character.
 *
 * Each file has a single path: a part may not be empty, begin with a dot, or contain an escaped
 * slash or a control character. Only the last part may be empty: then the path names a folder, and
 * '*ret_is_folder' is true. Returns 0; 404 if the path breaks these rules or is too long; 400 after
 * a wrong escape or a %00. 'out' does not end with a slash, and is "" for the folder itself.
 */
ED_SHARED EDDY_MUST_USE int ed_folder_path_decode(const char *path, unsigned flags, char *out,
                                                  bool *ret_is_folder);

#endif
