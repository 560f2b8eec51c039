/*
 * fake_protocol.c - connections of a made-up protocol that need no peer.
 */
#include "fake_protocol.h"

#include "http_test.h"

struct fake fake;

static void fake_close(eddy_stream *stream, unsigned flags)
{
        (void) flags;
        fake.closed++;
        eddy_free(stream);
}

static const struct eddy_stream_ops stream_ops = { .kind = "fake", .close = fake_close };

static void fake_end(struct ed_http_conn *conn)
{
        (void) conn;
        fake.ended++;
}

static const struct ed_http_conn_ops conn_ops = { .end = fake_end };
static const struct ed_http_protocol many = { .name = "many",
                                              .slots = FAKE_SLOTS,
                                              .conn = &conn_ops };
static const struct ed_http_protocol single = { .name = "single", .slots = 1, .conn = &conn_ops };

static int fake_connect(struct ed_http_conn *conn, struct eddy_http_fault *fault,
                        eddy_stream **ret_stream)
{
        eddy_stream *stream;
        int err;

        (void) fault;
        fake.openings++;
        err = eddy_sleep(fake.opening_ns);
        if (err == 0)
                err = fake.error;
        if (err < 0)
                return err;
        stream = eddy_malloc(sizeof(*stream));
        if (!stream)
                return -ENOMEM;
        eddy_stream_init(stream, &stream_ops);
        conn->protocol = fake.is_single ? &single : &many;
        *ret_stream = stream;
        return 0;
}

int fake_client_new(const struct eddy_http_client_opts *opts, eddy_http_client **ret_client)
{
        eddy_http_client *client;
        int err = eddy_http_client_new(opts, &client);

        if (err < 0)
                return err;
        fake = (struct fake){ .openings = 0 };
        client->pool.connect = fake_connect;
        client->protocols.plain = &many;
        client->protocols.offered[0] = &many;
        client->protocols.offered[1] = &single;
        *ret_client = client;
        return 0;
}

eddy_http_client *fake_client(const struct eddy_http_client_opts *opts)
{
        eddy_http_client *client;

        CHECK_EQ(fake_client_new(opts, &client), 0);
        return client;
}

int fake_borrow(eddy_http_client *client, const char *host, bool is_https,
                struct ed_http_conn **ret_conn)
{
        struct ed_http_key key = {
                .host = host, .host_bytes = (uint16_t) strlen(host), .port = 1, .is_https = is_https
        };
        int64_t now_ns = eddy_now();
        int err;

        err = ed_http_pool_acquire(&client->pool, &key, &now_ns, ret_conn);
        if (err < 0 || (*ret_conn)->stream)
                return err;
        err = ed_http_conn_open(ret_conn, NULL);
        if (err < 0 && *ret_conn)
                ed_http_pool_release(*ret_conn, err == -ECANCELED);
        return err;
}
