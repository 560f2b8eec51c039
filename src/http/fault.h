/*
 * http/fault.h - what the caller's fault keeps of an error.
 */
#ifndef ED_HTTP_FAULT_H
#define ED_HTTP_FAULT_H

#include "eddy/http_client.h"

static inline void ed_http_fault_clear(struct eddy_http_fault *fault)
{
        fault->text[0] = '\0';
        fault->status = 0;
        fault->body[0] = '\0';
        fault->body_bytes = 0;
}

/* Note a text in 'fault', which may be NULL. */
void ed_http_fault_note(struct eddy_http_fault *fault, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* Note the error of a response, and the text of eddy_http_response_fault_text(); 'fault' may be NULL. */
void ed_http_fault_of_response(struct eddy_http_fault *fault, int err, const char *text);

#endif
