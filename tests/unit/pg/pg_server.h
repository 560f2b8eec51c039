/*
 * pg_server.h - a PostgreSQL server for the cases of a test program.
 *
 * It is started before the first case, in a folder of its own below /tmp, on a Unix socket and a free
 * port of 127.0.0.1, and killed at the end of the program.
 */
#ifndef ED_TEST_PG_SERVER_H
#define ED_TEST_PG_SERVER_H

#include <sys/types.h>

#include "../io/io_test.h"
#include "eddy/eddy.h"

/* Skips the case if there is no server. */
void pg_server_needed(void);

/* Connection strings: by the Unix socket, and by the loopback address. */
extern char pg_unix[256], pg_tcp[256];
extern char pg_folder[64];
extern int pg_port;

/* The postmaster, and a signal to all processes of the server. */
extern pid_t pg_pid;
void pg_signal_all(int signo);

/* Start it again after a kill. */
void pg_start(void);
void pg_kill(int signo);

/* io_run_and_wait(), if there is a server. */
void pg_run(eddy_task_fn *fn);

/* Connect by the Unix socket. */
eddy_pg *pg_open(void);

/* The integer that a command returns. */
int64_t pg_int(eddy_pg *pg, const char *sql);

#endif
