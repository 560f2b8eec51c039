/*
 * eddy/http_upgrade.h - another protocol on a connection of an HTTP client (RFC 9110, 7.8).
 *
 *     static const struct eddy_http_header upgrade = { "Upgrade", "echo" };
 *     struct eddy_http_request request = { .url = url, .headers = &upgrade, .headers_count = 1 };
 *
 *     err = eddy_http_client_upgrade(client, &request, &response, &stream);
 *     if (err < 0)
 *             return err;
 *     if (stream)
 *             err = talk(stream);     (the response's head has the server's choice)
 *     else
 *             report(eddy_http_response_status(response));
 *     eddy_stream_close(stream);
 *     eddy_http_response_close(response);
 */
#ifndef EDDY_HTTP_UPGRADE_H
#define EDDY_HTTP_UPGRADE_H

#include "eddy/def.h"
#include "eddy/http_client.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

/*
 * Send a request that offers protocols in its header "Upgrade", and take the connection from the
 * client if the server answers 101.  "Connection: Upgrade" is added unless the request has a header
 * "Connection".  The request has no body and is sent as by eddy_http_client_send().
 *
 * After a 101, '*ret_stream' is the connection, with TLS if the URL is https.  Its first bytes are
 * those that the server sent directly after the 101.  The connection belongs to the caller: it does
 * not count against the client's limits, the client's times do not end it, and it remains open
 * when the response or the client is closed.  The response has the head of the 101 and an empty body;
 * the caller checks which protocol its header "Upgrade" names.
 *
 * With any other response, '*ret_stream' is NULL, and the response is as one of
 * eddy_http_client_send().  A 101 without the headers "Upgrade" and "Connection: Upgrade" is
 * EDDY_E_HTTP_INVALID_RESPONSE.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_INVALID_REQUEST  also if the request has no header "Upgrade", or has a body
 *         -EINVAL, -ENOMEM, and the others of eddy_http_client_send()
 * Owns: borrows the request for the call; returns (owned) '*ret_response', to be freed by
 *       eddy_http_response_close(), and '*ret_stream', to be closed by eddy_stream_close().
 */
EDDY_API EDDY_MUST_USE int eddy_http_client_upgrade(eddy_http_client *client,
                                                    const struct eddy_http_request *request,
                                                    eddy_http_response **ret_response,
                                                    eddy_stream **ret_stream);

EDDY_END_DECLS

#endif
