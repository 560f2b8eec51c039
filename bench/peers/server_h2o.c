/*
 * server_h2o.c - a server on libh2o and its own event loop, HTTP/1 only; see server_eddy.c.
 *
 *     server_h2o respond|known|unknown|route|routes [CERT KEY]
 *
 * "known" and "unknown" send by a generator, as a handler that streams does.  A route is a path of
 * the host, as in h2o's configuration; the handler sees the rest of the path.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>

#define H2O_USE_EPOLL 1
#include <h2o.h>

#include "../bench.h"

static const char body[] = "{\"message\":\"Hello, World!\"}";
static h2o_globalconf_t config;
static h2o_context_t context;
static h2o_accept_ctx_t accept_context;
static volatile sig_atomic_t ends;
static long answers;
static int is_known;

static void add_type(h2o_req_t *req)
{
        req->res.status = 200;
        req->res.reason = "OK";
        h2o_add_header(&req->pool, &req->res.headers, H2O_TOKEN_CONTENT_TYPE, NULL,
                       H2O_STRLIT("application/json"));
        answers++;
}

static int respond(h2o_handler_t *self, h2o_req_t *req)
{
        (void) self;
        add_type(req);
        h2o_send_inline(req, body, sizeof(body) - 1);
        return 0;
}

static void body_end(h2o_generator_t *self, h2o_req_t *req)
{
        (void) self;
        h2o_send(req, NULL, 0, H2O_SEND_STATE_FINAL);
}

static int respond_in_pieces(h2o_handler_t *self, h2o_req_t *req)
{
        static h2o_generator_t generator = { body_end, NULL };
        h2o_iovec_t piece = h2o_iovec_init(body, sizeof(body) - 1);

        (void) self;
        add_type(req);
        if (is_known)
                req->res.content_length = sizeof(body) - 1;
        h2o_start_response(req, &generator);
        h2o_send(req, &piece, 1, is_known ? H2O_SEND_STATE_FINAL : H2O_SEND_STATE_IN_PROGRESS);
        return 0;
}

static void add_handler(h2o_hostconf_t *host, const char *path,
                        int (*on_request)(h2o_handler_t *, h2o_req_t *))
{
        h2o_pathconf_t *at = h2o_config_register_path(host, path, 0);

        h2o_create_handler(at, sizeof(h2o_handler_t))->on_req = on_request;
}

static void on_accept(h2o_socket_t *listener, const char *err)
{
        h2o_socket_t *one;

        if (!err && (one = h2o_evloop_socket_accept(listener)))
                h2o_accept(&accept_context, one);
}

static void on_term(int signal)
{
        (void) signal;
        ends = 1;
}

static SSL_CTX *tls_new(const char *cert, const char *key)
{
        SSL_CTX *tls = SSL_CTX_new(TLS_server_method());

        if (!tls || SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION) != 1 ||
            SSL_CTX_use_certificate_chain_file(tls, cert) != 1 ||
            SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1)
                bench_die("TLS", ERR_reason_error_string(ERR_peek_last_error()));
        return tls;
}

static int listen_on(struct sockaddr_in *at)
{
        socklen_t bytes = sizeof(*at);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        at->sin_family = AF_INET;
        at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (fd < 0 || bind(fd, (struct sockaddr *) at, bytes) < 0 || listen(fd, SOMAXCONN) < 0 ||
            getsockname(fd, (struct sockaddr *) at, &bytes) < 0)
                bench_die("listen", strerror(errno));
        return fd;
}

static void host_build(const char *way)
{
        h2o_hostconf_t *host =
                h2o_config_register_host(&config, h2o_iovec_init(H2O_STRLIT("default")), 65535);
        int routes = strcmp(way, "routes") == 0 ? 1000 : strcmp(way, "route") == 0 ? 1 : 0;
        char path[32];

        is_known = strcmp(way, "known") == 0;
        if (is_known || strcmp(way, "unknown") == 0) {
                add_handler(host, "/", respond_in_pieces);
        } else if (routes > 0) {
                for (int i = 0; i < routes; i++) {
                        snprintf(path, sizeof(path), "/api/r%03d", i);
                        add_handler(host, path, respond);
                }
        } else if (strcmp(way, "respond") == 0) {
                add_handler(host, "/", respond);
        } else {
                bench_die(way, "no such way to answer");
        }
}

int main(int argc, char **argv)
{
        struct sigaction action = { .sa_handler = on_term };
        struct sockaddr_in at = { .sin_port = 0 };
        int fd;

        if (argc != 2 && argc != 4)
                bench_die("usage", "server_h2o WAY [CERT KEY]");
        signal(SIGPIPE, SIG_IGN);
        h2o_config_init(&config);
        host_build(argv[1]);
        h2o_context_init(&context, h2o_evloop_create(), &config);
        accept_context.ctx = &context;
        accept_context.hosts = config.hosts;
        if (argc == 4)
                accept_context.ssl_ctx = tls_new(argv[2], argv[3]);
        fd = listen_on(&at);
        h2o_socket_read_start(h2o_evloop_socket_create(context.loop, fd, H2O_SOCKET_FLAG_DONT_READ),
                              on_accept);
        sigaction(SIGTERM, &action, NULL);
        printf("%u\n", ntohs(at.sin_port));
        fflush(stdout);
        while (!ends)
                h2o_evloop_run(context.loop, 1000);
        printf("{\"peer\": \"libh2o " H2O_VERSION "\", \"ops\": %ld}\n", answers);
        return 0;
}
