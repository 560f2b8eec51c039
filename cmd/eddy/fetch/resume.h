/*
 * fetch/resume.h - the results of an earlier run that is continued: URLs whose files are saved are not
 * fetched again.
 */
#ifndef ED_CMD_FETCH_RESUME_H
#define ED_CMD_FETCH_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash_map.h"
#include "common/save_dir.h"
#include "eddy/def.h"

struct ed_resume {
        int fd;                 /* of the results, locked, open for appending; -1: none */
        const char *option;     /* for messages: "-o" or "--save" */
        struct ed_hash_map map; /* of URLs, one member for each line; 24 bytes and its slot */
        uint64_t count;         /* of these lines */
};

/*
 * Open the results at 'path', the file of -o, if they have contents, and lock them. Errors are
 * reported on stderr.
 *
 * Errors: the exit code, above 0
 */
EDDY_MUST_USE int ed_resume_open(struct ed_resume *resume, const char *path);

/* Use the record of a folder (fetch/save.h), which is borrowed until ed_resume_read() has returned. */
void ed_resume_record(struct ed_resume *resume, int fd);

/*
 * Read the results: URLs with a status below 300 count if their files are in the folder. A last line
 * that is whole gets its line feed; an incomplete one, which a killed run has left, is cut off.
 * Errors: as ed_resume_open(). A file with another line is refused, and not changed.
 */
EDDY_MUST_USE int ed_resume_read(struct ed_resume *resume, const char *path,
                                 const struct ed_save_dir *dir);
void ed_resume_fini(struct ed_resume *resume);

/* Returns true if a result has the URL, and takes that result. */
bool ed_resume_take(struct ed_resume *resume, const char *url, size_t bytes);

#endif
