/*
 * http/call_form.c - the body of a call that is a form with files.
 */
#include "eddy/http_multipart.h"
#include "http/call.h"
#include "http/fault.h"

static void form_free(void *arg)
{
        eddy_http_multipart_close(arg);
}

int ed_http_call_start_form(struct ed_http_call *call)
{
        struct eddy_http_request *request = &call->request;
        eddy_http_multipart_body *body;
        int err = eddy_http_multipart_open(request->multipart, request->ret_fault, &body);

        if (err < 0)
                return err;
        call->body_free = form_free;
        call->body_arg = body;
        request->body_source = eddy_http_multipart_source(body);
        return ed_http_call_set_type(call, eddy_http_multipart_type(body));
}

void ed_http_call_note_form(struct ed_http_call *call)
{
        const char *text = call->body_free ? eddy_http_multipart_fault(call->body_arg) : "";

        if (*text)
                ed_http_fault_note(call->request.ret_fault, "%s", text);
}
