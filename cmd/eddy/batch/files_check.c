/*
 * batch/files_check.c - see files_check.h.
 */
#include "batch/files_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/excerpt.h"

/* Write why a file cannot be sent. Returns -EINVAL. */
static int file_fault(char error[ED_REQUEST_ERROR_BYTES], const char *path, const char *reason)
{
        char shown[ED_EXCERPT_BYTES];

        snprintf(error, ED_REQUEST_ERROR_BYTES, "\"files\": %s %s",
                 ed_excerpt(shown, path, strlen(path)), reason);
        return -EINVAL;
}

int ed_files_check(struct ed_files_count *count, const struct ed_request *request,
                   char error[ED_REQUEST_ERROR_BYTES])
{
        for (size_t i = 0; i < request->parts_count; i++) {
                const char *path = request->parts[i].path;
                struct stat st;

                if (!path)
                        continue;
                if (stat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
                        return file_fault(error, path,
                                          "does not exist: a relative path begins at the folder in "
                                          "which the command runs");
                if (stat(path, &st) < 0 || access(path, R_OK) < 0)
                        return file_fault(error, path, "cannot be read: check its permissions");
                if (!S_ISREG(st.st_mode))
                        return file_fault(error, path, "is not a regular file: name a file");
                count->files++;
                count->bytes += (uint64_t) st.st_size;
        }
        return 0;
}

void ed_files_count_add(const struct ed_files_count *count, struct ed_draft *report)
{
        if (count->files == 0)
                return;
        ed_draft_add_printf(report, "%-16s", "files");
        ed_draft_add_grouped(report, count->files);
        ed_draft_add_str(report, count->files == 1 ? " upload with " : " uploads with ");
        ed_draft_add_grouped(report, count->bytes);
        ed_draft_add_str(report, " bytes\n");
}
