/*
 * common/slurp.c - reads a whole file.
 */
#include "common/slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/console.h"
#include "common/inputs.h"
#include "common/read_some.h"
#include "eddy/alloc.h"

enum { START_BYTES = 64 << 10 };

/* Read to the end. Returns 0 and the data, or an error. */
static int fd_slurp(int fd, size_t bytes_max, char **ret_data, size_t *ret_bytes)
{
        size_t room = START_BYTES, bytes = 0;
        char *data = eddy_malloc(room + 1), *grown;
        int err = data ? 0 : -ENOMEM;

        while (err == 0) {
                ssize_t n = ed_read_some(fd, data + bytes, room - bytes, -1);

                if (n == 0)
                        break;
                if (n < 0) {
                        err = (int) n;
                        continue;
                }
                bytes += (size_t) n;
                if (bytes > bytes_max)
                        err = -EFBIG;
                if (err < 0 || bytes < room)
                        continue;
                grown = eddy_realloc(data, 2 * room + 1);
                if (!grown) {
                        err = -ENOMEM;
                        continue;
                }
                data = grown;
                room *= 2;
        }
        if (err < 0) {
                eddy_free(data);
                return err;
        }
        data[bytes] = '\0';
        *ret_data = data;
        *ret_bytes = bytes;
        return 0;
}

int ed_slurp(const char *command, const char *option, const char *path, size_t bytes_max,
             char **ret_data, size_t *ret_bytes)
{
        bool is_stdin = strcmp(path, "-") == 0;
        int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), err;

        err = fd < 0 ? -errno : is_stdin ? 0 : ed_inputs_add(option, path);
        if (err == 0)
                err = fd_slurp(fd, bytes_max, ret_data, ret_bytes);
        if (fd >= 0 && !is_stdin)
                close(fd);
        if (err == -EFBIG && bytes_max >= 1 << 20)
                ed_console_usage(command, "%s%s: larger than %zu MiB", option, path,
                                 bytes_max >> 20);
        else if (err == -EFBIG)
                ed_console_usage(command, "%s%s: larger than %zu KiB", option, path,
                                 bytes_max >> 10);
        else if (err < 0 && err != -ENOMEM)
                ed_console_usage(command, "%s%s: %s", option, path, strerror(-err));
        return err;
}
