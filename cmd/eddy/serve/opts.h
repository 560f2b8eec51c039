/*
 * serve/opts.h - the options of `eddy serve`.
 */
#ifndef ED_CMD_SERVE_OPTS_H
#define ED_CMD_SERVE_OPTS_H

#include <stdint.h>

enum { ED_SERVE_THREADS_MAX = 256, ED_SERVE_HOSTS_MAX = 32 };

struct ed_serve_opts {
        const char *folder;
        const char *address; /* to listen on */
        uint16_t port;       /* 0: a free one */
        uint16_t metrics_port;
        uint32_t threads; /* 0: one for each processor */
        uint32_t hosts_count;
        const char *hosts[ED_SERVE_HOSTS_MAX]; /* names of --host */
        uint32_t folder_flags;                 /* EDDY_HTTP_FOLDER_* */
        uint32_t server_flags;                 /* EDDY_HTTP_SERVER_* */
        const char *cache_control;
        const char *cert_file; /* NULL: http */
        const char *key_file;  /* NULL: the key is in cert_file */
        const char *log_file;  /* NULL: none; "-": standard error */
};

/* Parse the command line. Returns 0; otherwise 1 and the exit code, after a message. */
int ed_serve_opts_parse(struct ed_serve_opts *opts, int argc, char **argv, int *ret_exit);

#endif
