/*
 * http/server.h - a server: its options, its handler and the time of day, for the connections of
 * each protocol.
 */
#ifndef ED_HTTP_SERVER_H
#define ED_HTTP_SERVER_H

#include "eddy/http_date.h"
#include "eddy/http_server.h"
#include "eddy/stream.h"
#include "http/h2_memory.h"
#include "http/http1_room.h"

struct ed_h2_exchange;

struct ed_http_server {
        struct eddy_http_server_opts opts; /* with the defaults in place of zeros */
        eddy_http_handler_fn *handler;
        void *arg;
        int64_t date_s;
        char date[EDDY_HTTP_DATE_BYTES + 1];
        struct ed_http1_rooms rooms;   /* of connections by HTTP/1 */
        struct ed_h2_exchange *spares; /* of connections by HTTP/2: exchanges that have ended */
        uint32_t spares_count;
        uint32_t h2_connections;
        struct ed_h2_memory memory; /* of connections by HTTP/2 */
};

/*
 * Serve a connection by one protocol until the connection ends. The task is in a connection of
 * eddy_serve(), and the stream has done its handshake.
 *
 * Suspends: yes.
 * Errors: -ENOMEM  the connection could not be served
 * Owns: takes 'stream'.
 */
typedef int ed_http_connection_fn(struct ed_http_server *server, eddy_stream *stream);

/* Errors: -EINVAL  an option is not valid. */
EDDY_MUST_USE int ed_http_server_init(struct ed_http_server *server,
                                      const struct eddy_http_server_opts *opts,
                                      eddy_http_handler_fn *handler, void *arg);

/* Free its memory. Its connections have ended. */
void ed_http_server_fini(struct ed_http_server *server);

/* Free the memory that the server has kept for connections by HTTP/2. There are none. */
void ed_h2_exchanges_free(struct ed_http_server *server);

/* Returns the value of the field Date (RFC 9110, 6.6.1), formatted at most once a second. */
const char *ed_http_server_date(struct ed_http_server *server);

/*
 * Call the handler, and answer its error if it has begun no response. Values that the handler binds
 * end with the call. Returns its result.
 */
int ed_http_server_handle(const struct ed_http_server *server, eddy_http_exchange *exchange);

#endif
