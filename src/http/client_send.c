/*
 * http/client_send.c - the outermost layer of a call: the total time, and the judgement of the
 * status.
 */
#include <errno.h>

#include "eddy/error.h"
#include "http/call.h"
#include "http/fault.h"
#include "http/request_fault.h"
#include "http/status_fault.h"
#include "http/time_limit.h"
#include "scope/debug/debug.h"
#include "scope/suspend.h"

static int64_t send_through(void *arg)
{
        struct ed_http_call *call = arg;
        int err = ed_unlikely(call->request.multipart != NULL) ? ed_http_call_start_form(call) : 0;

        if (err >= 0)
                err = ed_http_call_follow(call);
        if (err < 0 && ed_unlikely(call->request.multipart != NULL))
                ed_http_call_note_form(call);
        return err;
}

static bool is_error(const struct ed_http_call *call)
{
        unsigned flags = call->request.flags;

        return (flags & EDDY_HTTP_STATUS_IS_ERROR) && !(flags & EDDY_HTTP_ANY_STATUS) &&
               call->response->ops->status(call->response) >= 400;
}

static int send_call(eddy_http_client *client, const struct eddy_http_request *request,
                     eddy_http_response **ret_response)
{
        struct ed_http_call call = { .client = client, .request = *request };
        int err = ed_http_call_begin(&call);

        if (err >= 0)
                err = (int) ed_http_call(send_through, &call, call.deadline_ns,
                                         EDDY_E_HTTP_TIMEOUT_TOTAL);
        if (err >= 0 && ed_unlikely(is_error(&call))) {
                err = ed_http_status_fault(call.response, request->ret_fault);
                ed_http_call_drop(&call);
        }
        if (err >= 0) {
                ed_list_push_back(&client->lent, &call.response->link);
                *ret_response = call.response;
        }
        if (ed_unlikely(err < 0))
                ed_http_request_fault_url(client, request, err);
        ed_http_call_end(&call);
        return err;
}

int eddy_http_client_send(eddy_http_client *client, const struct eddy_http_request *request,
                          eddy_http_response **ret_response)
{
        struct ed_task *task;
        int err;

        if (!client || !request || !ret_response)
                return -EINVAL;
        if (request->ret_fault)
                ed_http_fault_clear(request->ret_fault);
        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (client->pool.member.loop != task->loop)
                return EDDY_E_RUN_OTHER_LOOP;
        err = send_call(client, request, ret_response);
        if (err >= 0)
                ed_debug_made(*ret_response, ED_DEBUG_RESPONSE);
        return err;
}
