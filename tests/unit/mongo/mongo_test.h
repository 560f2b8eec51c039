/*
 * mongo_test.h - a MongoDB server of a test, in memory, and clients.
 */
#ifndef ED_MONGO_TEST_H
#define ED_MONGO_TEST_H

#include <sys/types.h>

#include "../io/io_test.h"
#include "eddy/mongo.h"

extern struct mongo_server {
        pid_t pid;
        int stdin_fd;
        int port;
} mongo_server;

/* Skips the case where the server cannot be. */
void mongo_server_start(void);
void mongo_server_stop(void);

/* Stop the process, until SIGCONT. */
void mongo_server_freeze(void);

/* A client of a port of this machine. */
eddy_mongo *mongo_open(int port, uint32_t clients);
eddy_mongo *mongo_open_limited(int port, uint32_t clients, int64_t limit_ns);

#endif
