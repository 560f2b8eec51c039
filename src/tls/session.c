/*
 * tls/session.c - the sessions that a client keeps for resumption.
 *
 * A session was verified with the options of its configuration, so no other configuration sees it.
 */
#include "tls/session.h"

#include <string.h>

#include "base/alloc.h"
#include "tls/connection.h"

struct kept {
        struct ed_list link;
        SSL_SESSION *session; /* owned */
        char host[];
};

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
        size_t bytes = strlen(tls->host) + 1;
        struct kept *kept;

        if (tls->bio.detached)
                return 0; /* another thread: the session is not worth a lock */
        kept = ed_alloc(sizeof(*kept) + bytes);
        if (!kept)
                return 0; /* OpenSSL frees the session */
        if (config->sessions_count == EDDY_TLS_SESSIONS_MAX)
                kept_free(config, ed_container_of(config->sessions.prev, struct kept, link));
        kept->session = session;
        memcpy(kept->host, tls->host, bytes);
        ed_list_push_front(&config->sessions, &kept->link);
        config->sessions_count++;
        return 1;
}

void ed_tls_session_resume(eddy_tls_config *config, SSL *ssl, const char *host)
{
        ed_list_each (link, &config->sessions) {
                struct kept *kept = ed_container_of(link, struct kept, link);

                if (strcmp(kept->host, host) != 0)
                        continue;
                if (SSL_SESSION_is_resumable(kept->session))
                        (void) SSL_set_session(ssl, kept->session);
                kept_free(config, kept);
                return;
        }
}

void ed_tls_sessions_drop(eddy_tls_config *config)
{
        while (config->sessions_count > 0)
                kept_free(config, ed_container_of(config->sessions.next, struct kept, link));
}
