/*
 * wire/folder_path.h - the path of a URL as the name of a file in a folder.
 */
#ifndef ED_WIRE_FOLDER_PATH_H
#define ED_WIRE_FOLDER_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/def.h"

enum {
        ED_FOLDER_PATH_BYTES_MAX = 3072, /* of a name; a system call takes 4,095 */
        ED_FOLDER_PATH_PART_MAX = 255,   /* between two slashes */
        ED_FOLDER_PATH_QUOTED = 1 << 0,  /* flag: the path is of a URL */
};

/*
 * Decode a path without its first slash, such as "a/b%20c", to 'out', which has strlen(path) + 1 bytes.
 * Without ED_FOLDER_PATH_QUOTED, a '%' is an ordinary character.
 * Each file has a single path: no part is empty, except the last (then it names a folder, and '*ret_is_folder'
 * is true); no part begins with a dot, has a slash that was quoted, or a control character. Returns 0; 404
 * if there can be no such file; 400 for a wrong '%' or %00. 'out' does not end with a slash; "": the
 * folder itself.
 */
ED_SHARED EDDY_MUST_USE int ed_folder_path_decode(const char *path, unsigned flags, char *out,
                                                  bool *ret_is_folder);

#endif
