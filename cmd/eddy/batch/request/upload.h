/*
 * batch/request/upload.h - the members "form" and "files" of a line, as the parts of a form of type
 * multipart/form-data. No I/O.
 *
 *   "form": {"model":"small","tags":["a","b"],"temperature":0}
 *   "files": {"file":"speech.mp3","image[]":["a.png",{"path":"b","name":"b.png","type":"image/png"}]}
 *
 * The values of "form" are strings, numbers, true and false; each item of an array is a part of its
 * own. A value that is null is left out. The parts of "form" come first, each group in the order of the
 * line.
 */
#ifndef ED_CMD_BATCH_REQUEST_UPLOAD_H
#define ED_CMD_BATCH_REQUEST_UPLOAD_H

#include <stddef.h>

#include "eddy/def.h"
#include "eddy/http_multipart.h"
#include "eddy/json.h"

enum {
        ED_UPLOAD_PARTS_MAX = 128,       /* of a line */
        ED_UPLOAD_PATH_BYTES_MAX = 4095, /* of a file */
};

/* All zero but the members that say so. */
struct ed_upload {
        const struct eddy_json_value *form, *files; /* borrowed; set; EDDY_JSON_NONE: not there */
        char *error;                                /* ED_FAULT_BYTES; set */
        /* Set in the second call: room for 'count' parts, and for 'bytes' of their texts. */
        struct eddy_http_part *parts;
        char *at;
        size_t count;
        size_t bytes;
};

/*
 * Count the parts, and the bytes of their texts. If 'parts' is set, make the parts too: 'count' must be 0.
 *
 * Errors: -EINVAL  'error' is a sentence about the fault and its remedy
 * Owns:   the parts have texts at 'at' and after it
 */
EDDY_MUST_USE int ed_upload_take(struct ed_upload *upload);

#endif
