/*
 * http/download_file.h - the file of a download: PATH.part, its note, and its name at the end.
 *
 * The note is made before the part and removed after it, so a part without a note is not ours. It is
 * open and locked (EDDY_FILE_LOCK) for the whole call, so two calls never write to one part.
 */
#ifndef ED_HTTP_DOWNLOAD_FILE_H
#define ED_HTTP_DOWNLOAD_FILE_H

#include <stdbool.h>

#include "eddy/file.h"
#include "eddy/http_range.h"
#include "tls/hash.h"

enum { ED_DOWNLOAD_OWNER_BYTES = 160 };

struct ed_download_file {
        const char *path;
        char *part, *note, *folder;          /* one allocation, which begins at 'part' */
        eddy_file *file;                     /* the part; NULL: it is not open */
        eddy_file *lock;                     /* the note; NULL: it is not open */
        uint64_t bytes;                      /* in the part */
        bool has_boot;                       /* the number of the machine's start is known */
        char owner[ED_DOWNLOAD_OWNER_BYTES]; /* how the note of this URL begins */
};

/* Errors: -ENOMEM, -EOPNOTSUPP, -ECANCELED. Suspends: yes. */
EDDY_MUST_USE int ed_download_file_init(struct ed_download_file *file, const char *path,
                                        const char *url);

/* Close the part and the note. */
void ed_download_file_fini(struct ed_download_file *file);

/*
 * Make the note, or open that of an earlier call, and lock it. If the part of that call can be
 * continued, open it, and set 'bytes' and '*range'.
 *
 * Suspends: yes. Errors: -EEXIST  there is a part or a note that is not ours; -EBUSY  another call has
 * the lock; the system's
 */
EDDY_MUST_USE int ed_download_file_find(struct ed_download_file *file,
                                        struct eddy_http_range *range);

/* Begin the part from its first byte, with a note. Suspends: yes. Errors: the system's */
EDDY_MUST_USE int ed_download_file_begin(struct ed_download_file *file,
                                         const struct eddy_http_range *range);

/* Keep only the first bytes of the part. Suspends: yes. Errors: the system's */
EDDY_MUST_USE int ed_download_file_cut(struct ed_download_file *file, uint64_t bytes);

/* Append to the part. Suspends: yes. Errors: the system's */
EDDY_MUST_USE int ed_download_file_write(struct ed_download_file *file, const void *data,
                                         size_t bytes);

/* Compute the SHA-256 of the part. Suspends: yes. Errors: the system's; -EOPNOTSUPP */
EDDY_MUST_USE int ed_download_file_hash(struct ed_download_file *file, char out[ED_HASH_HEX_ROOM]);

/*
 * Give the part its name, when it is on the disk, and remove the note. A file of that name is replaced,
 * unless 'is_new'.
 *
 * Suspends: yes. Errors: the system's, -EEXIST
 */
EDDY_MUST_USE int ed_download_file_keep(struct ed_download_file *file, bool is_new);

/* Remove the part, which is then begun again, also in a cancelled task. Suspends: yes. */
void ed_download_file_empty(struct ed_download_file *file);

/* Remove the part and its note, if the note is locked, also in a cancelled task. Suspends: yes. */
void ed_download_file_drop(struct ed_download_file *file);

#endif
