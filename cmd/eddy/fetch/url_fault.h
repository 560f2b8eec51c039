/*
 * fetch/url_fault.h - the part of a URL that is wrong, in words.
 */
#ifndef ED_CMD_FETCH_URL_FAULT_H
#define ED_CMD_FETCH_URL_FAULT_H

#include <stddef.h>

enum { ED_URL_FAULT_BYTES = 96 };

/*
 * A sentence about a URL that the library refused with EDDY_E_URL_INVALID: the
 * part that is wrong, and the remedy.  It is constant or in 'text'; NULL if
 * none of the usual mistakes is found.
 */
const char *ed_url_fault(const char *url, size_t bytes, char text[ED_URL_FAULT_BYTES]);

#endif
