/*
 * batch/packed_output.c - see packed_output.h.
 */
#include "batch/packed_output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/console.h"
#include "common/table_name.h"

int ed_packed_output_check(const char *command, const char *output)
{
        static const char *const ends[] = { ".gz", ".zst" };
        char path[NAME_MAX * 4];
        struct stat st;

        if (stat(output, &st) == 0 || errno != ENOENT)
                return 0;
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                int n = snprintf(path, sizeof(path), "%s%s", output, ends[i]);

                if (n > 0 && (size_t) n < sizeof(path) && stat(path, &st) == 0)
                        return ed_console_usage(command,
                                                "-o %s: this file does not exist, but %s does: "
                                                "decompress it, so that its requests are not sent "
                                                "again, or name another file",
                                                output, path);
        }
        return ed_table_name_refuse(command, output);
}
