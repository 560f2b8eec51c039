/*
 * wire/folder_path.c - see folder_path.h.
 */
#include "wire/folder_path.h"

#include <string.h>

#include "wire/url_quote.h"

/* Decode the part of 'bytes' bytes. Returns its decoded length, or -404 or -400. */
static int part_decode(const char *part, size_t bytes, unsigned flags, char *out)
{
        size_t at = 0;
        int n = 0, status = 0;

        while (at < bytes) {
                int c = flags & ED_FOLDER_PATH_QUOTED ? ed_url_byte(part, bytes, &at)
                                                      : (unsigned char) part[at++];

                if (c <= 0)
                        return -400;
                if (c < ' ' || c == 0x7f || c == '/' || n == ED_FOLDER_PATH_PART_MAX ||
                    (n == 0 && c == '.'))
                        status = -404;
                else
                        out[n++] = (char) c;
        }
        return status < 0 ? status : n;
}

int ed_folder_path_decode(const char *path, unsigned flags, char *out, bool *ret_is_folder)
{
        size_t total = 0;
        int status = 0;

        while (*path) {
                size_t bytes = strcspn(path, "/");
                int n = part_decode(path, bytes, flags, out + total);

                if (n == -400)
                        return 400;
                if (n <= 0 || total + (size_t) n > ED_FOLDER_PATH_BYTES_MAX)
                        status = 404;
                total += status == 0 ? (size_t) n : 0;
                path += bytes;
                if (!*path)
                        break;
                path++;
                if (!*path) {
                        *ret_is_folder = true;
                        out[total] = '\0';
                        return status;
                }
                if (status == 0)
                        out[total++] = '/';
        }
        *ret_is_folder = total == 0;
        out[total] = '\0';
        return status;
}
