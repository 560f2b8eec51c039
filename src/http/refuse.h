/*
 * http/refuse.h - refused answers of a handler: HTTP forbids them.
 *
 * The exchange keeps the reason until its request ends; "" means that no answer was refused.
 */
#ifndef ED_HTTP_REFUSE_H
#define ED_HTTP_REFUSE_H

#include "eddy/http_exchange.h"

enum { ED_HTTP_REFUSED_BYTES = 112 };

/* Keep the reason. Returns EDDY_E_HTTP_INVALID_ANSWER. */
EDDY_MUST_USE int ed_http_refuse(char refused[ED_HTTP_REFUSED_BYTES], const char *format, ...)
        EDDY_PRINTF(2, 3);

/*
 * Refuse an answer with a header that the server writes itself, or that HTTP forbids. The value may
 * be a secret, so the reason does not contain it.
 */
EDDY_MUST_USE int ed_http_refuse_header(char refused[ED_HTTP_REFUSED_BYTES],
                                        const struct eddy_http_header *header);

/* Report why a handler's answer is not valid, as a mistake of the program (EDDY_REPORT_MISUSE). */
void ed_http_report_refused(const eddy_http_exchange *exchange, const char *refused);

#endif
