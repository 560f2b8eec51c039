/*
 * common/url_fault.h - explains why a URL is not valid.
 */
#ifndef ED_CMD_COMMON_URL_FAULT_H
#define ED_CMD_COMMON_URL_FAULT_H

#include <stddef.h>

enum { ED_URL_FAULT_BYTES = 96 };

/*
 * Returns a sentence about a URL that the library refused with EDDY_E_URL_INVALID: the faulty part,
 * and the remedy. The sentence is constant or in 'text'. Returns NULL if no common mistake is
 * found.
 */
const char *ed_url_fault(const char *url, size_t bytes, char text[ED_URL_FAULT_BYTES]);

#endif
