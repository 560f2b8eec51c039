/*
 * common/location.h - the URL that the header Location of an answer means. No I/O.
 */
#ifndef ED_CMD_COMMON_LOCATION_H
#define ED_CMD_COMMON_LOCATION_H

#include <stdbool.h>

#include "common/draft.h"

/*
 * Append the URL to which 'location' leads from 'url', the URL of the request: it may be absolute, or
 * leave out the scheme, the host or folders (RFC 3986, 5.2). The user name and password of 'url' are
 * left out. A location that cannot be joined, such as one with a wrong host, is appended as it is.
 */
void ed_location_add(struct ed_draft *text, const char *url, const char *location);

/* Append a URL without what may be a secret: user name, password, query and fragment. */
void ed_location_add_bare(struct ed_draft *text, const char *url);

/* Returns true if two URLs differ in nothing but scheme, user name, host and port. */
bool ed_location_moves_host(const char *from, const char *to);

#endif
