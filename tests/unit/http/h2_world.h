/*
 * h2_world.h - a client whose connections all speak HTTP/2, each on a pair of streams in memory with a
 * server of h2_pair.h, or with a peer that says what a test gives.
 */
#ifndef ED_H2_WORLD_H
#define ED_H2_WORLD_H

#include "h2_pair.h"
#include "http/client.h"

enum { H2_SIDES_MAX = 16 };

typedef void h2_peer_fn(eddy_stream *stream);

struct h2_world {
        eddy_http_client *client;
        eddy_scope scope; /* of the servers */
        struct h2_side sides[H2_SIDES_MAX];
        int accepted;
        h2_handler_fn *handler;
        h2_peer_fn *peer; /* instead of the handler; the stream is closed after it */
        uint32_t streams_max, stream_window; /* of the server; 0: those of h2_pair.h */
        int64_t connect_ns;                  /* each connection takes so much longer */
        int64_t silent_ns;                   /* before a server says anything */
        int connects;
};

extern struct h2_world h2_world;

/* Make the client and begin the scope.  Errors: those of eddy_http_client_new(). */
int h2_world_begin(const struct eddy_http_client_opts *opts, h2_handler_fn *handler);

/* Close the client, if the test has not, and wait until all servers have ended. Returns 0 or an error. */
int h2_world_end(void);

/* Fetch a path. Returns the status or an error, and the body's first bytes as text in '*ret_body'. */
int h2_fetch(const char *method, const char *path, char ret_body[64]);

/* Send a request with a path instead of a URL. */
int h2_ask(struct eddy_http_request *request, const char *path, eddy_http_response **ret_response);

/* The server's side of the latest connection. */
struct h2_side *h2_latest(void);

/* H2_TEST(claim, OPTIONS(...), handler) { ... h2_world ... } */
#define H2_TEST(claim, options, with)                                                              \
        static void h2_##claim(void);                                                              \
        TEST(claim)                                                                                \
        {                                                                                          \
                struct h2_world_call world_call = { (options), (with), h2_##claim };               \
                http_run(h2_world_main, &world_call);                                              \
        }                                                                                          \
        static void h2_##claim(void)

struct h2_world_call {
        const struct eddy_http_client_opts *opts;
        h2_handler_fn *handler;
        void (*fn)(void);
        h2_peer_fn *peer; /* as in h2_world */
};
int h2_world_main(void *world_call);

#endif
