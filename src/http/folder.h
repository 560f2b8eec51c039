/*
 * http/folder.h - the state of an eddy_http_folder, and lists of names.
 */
#ifndef ED_HTTP_FOLDER_H
#define ED_HTTP_FOLDER_H

#include <errno.h>
#include <stdbool.h>

#include "eddy/http_folder.h"
#include "http/exchange.h"

struct eddy_http_folder {
        struct eddy_http_folder_opts opts; /* with the defaults filled in */
        int fd;
        unsigned open_flags; /* ED_BENEATH_NO_LINKS or 0 */
};

/* Returns true if the error of opening a name is answered with 404. */
static inline bool ed_http_folder_is_hidden(int err)
{
        switch (err) {
        case -ENOENT:
        case -ENOTDIR:
        case -EISDIR:
        case -EACCES:
        case -EPERM:
        case -ELOOP:
        case -EXDEV:
        case -ENXIO:
        case -ENODEV:
        case -ENAMETOOLONG:
                return true;
        default:
                return false;
        }
}

/*
 * Answer with an HTML list of the names in the subfolder 'name'; "" is 'folder' itself.
 *
 * Suspends: yes.
 * Errors: those of ed_beneath_folder(): no response was begun
 *         those of eddy_http_exchange_begin(), -ENOMEM
 */
EDDY_MUST_USE int ed_http_folder_list(eddy_http_exchange *exchange, const eddy_http_folder *folder,
                                      const char *name);

#endif
