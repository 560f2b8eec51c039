/*
 * wire/accept_coding.h - the field Accept-Encoding of a request (RFC 9110, 12.4.2 and 12.5.3).
 */
#ifndef ED_WIRE_ACCEPT_CODING_H
#define ED_WIRE_ACCEPT_CODING_H

#include "base/def.h"

/*
 * Returns the weight of a coding, such as "gzip", in thousandths (1 to 1,000), or 0 if the coding
 * is not acceptable. A coding that is not in the list has the weight of "*", or 0 without a "*".
 * List members that are not valid are ignored.
 */
ED_SHARED int ed_accept_coding_weight(const char *list, const char *coding);

#endif
