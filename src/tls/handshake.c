/*
 * tls/handshake.c - making a TLS stream from a stream.
 *
 * A step of a handshake may take a long private key, which cannot be interrupted. With such a
 * configuration each step runs on another thread, detached from the stream below; the task moves
 * the bytes between the steps.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/thread.h"
#include "eddy/time.h"
#include "loop/loop.h"
#include "scope/debug/debug.h"
#include "tls/connection.h"
#include "tls/session.h"

enum { STEP_READ_BYTES = 4 << 10, MORE = 1 };

/* ---- the object ------------------------------------------------------------------ */

/* Verify for 'host': a name or an address (RFC 9525: alternative names only). */
static int set_host(struct ed_tls *tls, const char *host)
{
        X509_VERIFY_PARAM *param = SSL_get0_param(tls->ssl);
        size_t bytes = strlen(host);

        /* A name may end with the dot of the root, which no certificate has. */
        if (bytes > 0 && host[bytes - 1] == '.')
                bytes--;
        /* OpenSSL would take a leading dot for "any name below". */
        if (bytes == 0 || bytes >= sizeof(tls->host) || host[0] == '.')
                return -EINVAL;
        memcpy(tls->host, host, bytes);
        tls->host[bytes] = '\0';
        if (X509_VERIFY_PARAM_set1_ip_asc(param, tls->host) == 1)
                return 0; /* an address is not sent as a name (RFC 6066, 3) */
        ERR_clear_error();
        X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
                                                       X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        if (X509_VERIFY_PARAM_set1_host(param, tls->host, bytes) != 1 ||
            SSL_set_tlsext_host_name(tls->ssl, tls->host) != 1)
                return -EINVAL;
        return 0;
}

/* Certificates are valid or not at the time of the loop's clock. */
static void set_time(struct ed_tls *tls)
{
        struct ed_sys *sys = ed_loop_current->sys;

        tls->verified_ns = sys->poll->time_of_day(sys);
        X509_VERIFY_PARAM_set_time(SSL_get0_param(tls->ssl),
                                   (time_t) (tls->verified_ns / EDDY_SEC(1)));
}

static int set_route(struct ed_tls *tls, const char *route)
{
        size_t bytes = strlen(route) + 1;

        tls->route = ed_alloc(bytes);
        if (!tls->route)
                return -ENOMEM;
        memcpy(tls->route, route, bytes);
        return 0;
}

static int set_client(struct ed_tls *tls, const char *host, const char *route)
{
        int err = route && *route ? set_route(tls, route) : 0;

        if (err < 0)
                return err;
        SSL_set_connect_state(tls->ssl);
        if (!host)
                return tls->config->flags & EDDY_TLS_INSECURE ? 0 : -EINVAL;
        err = set_host(tls, host);
        if (err == 0)
                ed_tls_session_resume(tls);
        return err;
}

static int tls_new(eddy_stream *lower, eddy_tls_config *config, struct ed_tls **ret_tls)
{
        struct ed_tls *tls = ed_alloc_zero(sizeof(*tls));
        BIO *object;

        if (!tls)
                return -ENOMEM;
        tls->stream.ops = &ed_tls_stream_ops;
        tls->stream.member = lower->member; /* freed after 'tls' */
        tls->config = ed_tls_config_ref(config);
        ed_tls_bio_init(&tls->bio, lower);
        tls->contexts = config->contexts;
        tls->contexts->refs++;
        tls->ssl = SSL_new(tls->contexts->list[0]);
        object = tls->ssl ? ed_tls_bio_new(&tls->bio) : NULL;
        if (!object) {
                ed_tls_free(tls);
                return -ENOMEM;
        }
        SSL_set_bio(tls->ssl, object, object);
        SSL_set_app_data(tls->ssl, tls);
        set_time(tls);
        *ret_tls = tls;
        return 0;
}

/* ---- the handshake --------------------------------------------------------------- */

/* Do one step. Returns 0 at the end of the handshake, MORE if the peer must act, or an error. */
static int step(void *arg)
{
        struct ed_tls *tls = arg;
        int result, err;

        ERR_clear_error();
        result = SSL_do_handshake(tls->ssl);
        if (result == 1)
                return 0;
        err = ed_tls_error(tls, result);
        if (err == -EAGAIN)
                return MORE;
        return err == 0 ? EDDY_E_TLS_PROTOCOL : err; /* close_notify in a handshake */
}

/*
 * Pass on what the last step has written, also an alert. The last records of a server with TLS 1.3
 * are session tickets, which the client need not read: they leave with the next write.
 */
static int pass_on(struct ed_tls *tls, bool is_over)
{
        bool only_tickets =
                is_over && SSL_is_server(tls->ssl) && SSL_version(tls->ssl) >= TLS1_3_VERSION;
        int err;

        if (only_tickets) {
                err = ed_tls_out_flush(&tls->bio);
                return err == -EAGAIN ? 0 : err;
        }
        return ed_tls_out_send(&tls->bio);
}

/* Wait for more of the peer's bytes; detached, also read them. */
static int wait_for_peer(struct ed_tls *tls)
{
        struct ed_tls_bio *bio = &tls->bio;
        char *room;
        int64_t n;
        int err;

        if (!bio->detached)
                return eddy_stream_wait(bio->lower, EDDY_STREAM_READING);
        err = ed_buf_reserve(&bio->in, STEP_READ_BYTES, &room);
        if (err < 0)
                return err;
        n = eddy_stream_read(bio->lower, room, STEP_READ_BYTES);
        if (n > 0)
                ed_buf_grow(&bio->in, (size_t) n);
        bio->ended = n == 0;
        return n < 0 ? (int) n : 0;
}

static int handshake(struct ed_tls *tls)
{
        int err, sent;

        for (;;) {
                tls->bio.direct = false;
                err = tls->bio.detached ? eddy_to_thread_named(step, tls, "tls_handshake")
                                        : step(tls);
                sent = err == -ECANCELED ? err : pass_on(tls, err == 0);
                if (err != MORE)
                        break;
                if (sent == 0)
                        sent = wait_for_peer(tls);
                if (sent < 0)
                        return sent;
        }
        tls->bio.detached = false;
        return err < 0 ? err : sent;
}

static int set_alpn(struct ed_tls *tls, const char *list)
{
        int err = ed_tls_alpn_init(&tls->alpn, list);

        if (err < 0 || !tls->alpn.names || SSL_is_server(tls->ssl))
                return err;
        return SSL_set_alpn_protos(tls->ssl, tls->alpn.names, tls->alpn.bytes) == 0 ? 0 : -ENOMEM;
}

/* RFC 7301, 3.2: a server chooses from the client's list, which OpenSSL does not check. */
static int check_alpn(struct ed_tls *tls)
{
        const struct ed_tls_alpn *own = tls->alpn.names ? &tls->alpn : &tls->config->alpn;
        const unsigned char *chosen;
        unsigned bytes;

        SSL_get0_alpn_selected(tls->ssl, &chosen, &bytes);
        if (bytes == 0)
                return 0;
        for (unsigned i = 0; own->names && i < own->bytes; i += own->names[i] + 1U)
                if (own->names[i] == bytes && memcmp(own->names + i + 1, chosen, bytes) == 0)
                        return 0;
        return ed_tls_not_offered(tls);
}

/* Do the handshake of a new object; frees it on failure. */
static int finish(struct ed_tls *tls, int err, const struct eddy_tls_conn_opts *opts,
                  enum ed_tls_cause *ret_cause, eddy_stream **ret_stream)
{
        struct eddy_tls_fault *fault = opts ? opts->ret_fault : NULL;

        if (fault)
                fault->text[0] = '\0';
        if (err == 0 && opts)
                err = set_alpn(tls, opts->alpn);
        tls->bio.detached = tls->contexts->is_slow;
        if (err == 0 && opts && opts->received_bytes > 0)
                err = ed_buf_append(&tls->bio.in, opts->received, opts->received_bytes);
        tls->bio.lower->is_lent = true;
        if (err == 0)
                err = handshake(tls);
        if (err == 0)
                err = check_alpn(tls);
        tls->bio.lower->is_lent = false;
        if (ret_cause)
                *ret_cause = tls->cause;
        if (err < 0) {
                if (fault && tls->fault.text[0])
                        *fault = tls->fault;
                else if (fault)
                        snprintf(fault->text, sizeof(fault->text), "%s", eddy_error_text(err));
                ed_tls_free(tls);
                return err;
        }
        ed_tls_session_renew(tls);
        ed_debug_gone(tls->bio.lower); /* reported as part of the TLS stream */
        ed_debug_made(&tls->stream, ED_DEBUG_STREAM);
        *ret_stream = &tls->stream;
        return 0;
}

int ed_tls_client(eddy_stream *lower, eddy_tls_config *config, const char *host,
                  const struct eddy_tls_conn_opts *opts, enum ed_tls_cause *ret_cause,
                  eddy_stream **ret_stream)
{
        struct ed_tls *tls;
        int err;

        if (ret_cause)
                *ret_cause = ED_TLS_OTHER_CAUSE;
        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!lower || !config || config->flags & EDDY_TLS_SERVER)
                return -EINVAL;
        err = tls_new(lower, config, &tls);
        if (err < 0)
                return err;
        return finish(tls, set_client(tls, host, opts ? opts->route : NULL), opts, ret_cause,
                      ret_stream);
}

int eddy_tls_client(eddy_stream *lower, eddy_tls_config *config, const char *host,
                    const struct eddy_tls_conn_opts *opts, eddy_stream **ret_stream)
{
        return ed_tls_client(lower, config, host, opts, NULL, ret_stream);
}

int ed_tls_server(eddy_stream *lower, eddy_tls_config *config,
                  const struct eddy_tls_conn_opts *opts, enum ed_tls_cause *ret_cause,
                  eddy_stream **ret_stream)
{
        struct ed_tls *tls;
        int err;

        if (ret_cause)
                *ret_cause = ED_TLS_OTHER_CAUSE;
        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!lower || !config || !(config->flags & EDDY_TLS_SERVER))
                return -EINVAL;
        err = tls_new(lower, config, &tls);
        if (err < 0)
                return err;
        SSL_set_accept_state(tls->ssl);
        return finish(tls, 0, opts, ret_cause, ret_stream);
}

int eddy_tls_server(eddy_stream *lower, eddy_tls_config *config,
                    const struct eddy_tls_conn_opts *opts, eddy_stream **ret_stream)
{
        return ed_tls_server(lower, config, opts, NULL, ret_stream);
}
