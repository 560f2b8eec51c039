/*
 * tls/session.c - the sessions that a client keeps for resumption.
 *
 * A session was verified with the options of its configuration, so no other configuration sees it.
 */
#include "tls/session.h"

#include <string.h>

#include "base/alloc.h"
#include "eddy/time.h"
#include "tls/connection.h"

/* A resumption renews a session, but not for ever (RFC 8446, 4.6.1). */
#define VERIFIED_NS EDDY_SEC(86400)

struct kept {
        struct ed_list link;
        SSL_SESSION *session; /* owned */
        int64_t verified_ns;  /* when the certificate was verified: not by a resumption */
        const char *route;    /* after the host's NUL */
        char host[];
};

static const char *route_of(const struct ed_tls *tls)
{
        return tls->route ? tls->route : "";
}

static void kept_free(eddy_tls_config *config, struct kept *kept)
{
        ed_list_remove(&kept->link);
        config->sessions_count--;
        SSL_SESSION_free(kept->session);
        ed_free(kept);
}

int ed_tls_session_on_new(SSL *ssl, SSL_SESSION *session)
{
        struct ed_tls *tls = SSL_get_app_data(ssl);
        eddy_tls_config *config = tls->config;
        size_t host_bytes = strlen(tls->host) + 1, route_bytes = strlen(route_of(tls)) + 1;
        struct kept *kept;

        /* On another thread the session is not worth a lock; after a reload it is not trusted. */
        if (tls->bio.detached || tls->contexts != config->contexts)
                return 0;
        kept = ed_alloc(sizeof(*kept) + host_bytes + route_bytes);
        if (!kept)
                return 0; /* OpenSSL frees the session */
        if (config->sessions_count == EDDY_TLS_SESSIONS_MAX)
                kept_free(config, ed_container_of(config->sessions.prev, struct kept, link));
        kept->session = session;
        kept->verified_ns = tls->verified_ns;
        memcpy(kept->host, tls->host, host_bytes);
        kept->route = memcpy(kept->host + host_bytes, route_of(tls), route_bytes);
        ed_list_push_front(&config->sessions, &kept->link);
        config->sessions_count++;
        return 1;
}

/* Returns true if the certificate would still be accepted, as far as time goes. */
static bool is_fresh(const struct kept *kept, int64_t now_ns)
{
        X509 *peer = SSL_SESSION_get0_peer(kept->session);
        time_t now_s = (time_t) (now_ns / EDDY_SEC(1));

        return SSL_SESSION_is_resumable(kept->session) &&
               now_ns - kept->verified_ns < VERIFIED_NS &&
               (!peer || X509_cmp_time(X509_get0_notAfter(peer), &now_s) > 0);
}

void ed_tls_session_resume(struct ed_tls *tls)
{
        eddy_tls_config *config = tls->config;

        ed_list_each (link, &config->sessions) {
                struct kept *kept = ed_container_of(link, struct kept, link);

                if (strcmp(kept->host, tls->host) != 0 || strcmp(kept->route, route_of(tls)) != 0)
                        continue;
                if (is_fresh(kept, tls->verified_ns) &&
                    SSL_set_session(tls->ssl, kept->session) == 1)
                        tls->verified_ns = kept->verified_ns;
                kept_free(config, kept);
                return;
        }
}

void ed_tls_session_renew(struct ed_tls *tls)
{
        SSL_SESSION *session;

        if (SSL_is_server(tls->ssl) || !SSL_session_reused(tls->ssl) ||
            SSL_version(tls->ssl) != TLS1_2_VERSION)
                return;
        session = SSL_get1_session(tls->ssl);
        if (session && ed_tls_session_on_new(tls->ssl, session) == 0)
                SSL_SESSION_free(session);
}

void ed_tls_sessions_drop(eddy_tls_config *config)
{
        while (config->sessions_count > 0)
                kept_free(config, ed_container_of(config->sessions.next, struct kept, link));
}
