/*
 * redis_test.h - a Redis server of a test, in a folder of its own.
 */
#ifndef ED_REDIS_TEST_H
#define ED_REDIS_TEST_H

#include <stdint.h>

#include "eddy/eddy.h"
#include "eddy/redis.h"
#include "test.h"

struct redis_server {
        char folder[64];
        char path[96]; /* of the Unix socket */
        char url[128];
        uint16_t port;
        int pid;
        const char *const *more; /* further arguments, up to NULL; or NULL */
};

/* Start a server and wait until it answers.  Skips the test if there is no redis-server. */
void redis_server_start(struct redis_server *server, const char *const *more);

/* Kill the server with SIGKILL; start it again at the same place. */
void redis_server_kill(struct redis_server *server);
void redis_server_restart(struct redis_server *server);

/* Kill the server and remove its folder. */
void redis_server_end(struct redis_server *server);

/* Run main_fn in a run whose reports fail the test. */
void redis_run(eddy_task_fn *main_fn, void *arg);

/* Bytes that a scripted server answers with, whatever it receives, each time it is connected to. */
struct redis_script {
        const char *answer;
        size_t bytes;
        size_t piece; /* bytes of a write; 0: all */
        bool stays;   /* the connection stays open after the answer */
        int connections;
        eddy_listener *listener;
        char url[64];
};

/* Listen on a free port of 127.0.0.1, and serve by a task of 'scope'. */
void redis_script_start(struct redis_script *script, eddy_scope *scope);

#endif
