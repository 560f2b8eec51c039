/*
 * http/run.h - the loops of eddy_http_run().
 */
#ifndef ED_HTTP_RUN_H
#define ED_HTTP_RUN_H

#include <stdbool.h>

#include "eddy/endpoint.h"
#include "eddy/http_run.h"
#include "sys/thread/thread.h"

/* Shared by the loops. */
struct ed_http_run {
        struct eddy_http_run_opts opts;
        eddy_http_run_fn *fn;
        void *arg;
        struct ed_mutex lock; /* protects everything below */
        uint16_t port;        /* of all loops; 0: no loop listens yet */
        bool is_told;         /* the first failure is in 'text', or was reported */
        char text[512];
};

/* The state of one loop. */
struct ed_http_run_loop {
        struct ed_http_run *run;
        eddy_tls_config *tls;    /* NULL: http */
        eddy_listener *listener; /* NULL: does not listen */
        int err;                 /* of the first attempt to listen */
        bool has_begun;          /* it has tried to listen */
        char url[EDDY_ENDPOINT_TEXT_BYTES + sizeof("https://")];
};

/* Makes the loop's router and calls the function.  Returns its result. */
int ed_http_run_loop(struct ed_http_run *run);

#endif
