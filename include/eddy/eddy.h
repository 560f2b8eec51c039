/*
 * eddy/eddy.h - all of eddy.
 */
#ifndef EDDY_EDDY_H
#define EDDY_EDDY_H

#include "eddy/alloc.h"
#include "eddy/def.h"
#include "eddy/dns.h"
#include "eddy/error.h"
#include "eddy/http_client.h"
#include "eddy/http_server.h"
#include "eddy/queue.h"
#include "eddy/run.h"
#include "eddy/scope.h"
#include "eddy/semaphore.h"
#include "eddy/stream.h"
#include "eddy/task.h"
#include "eddy/tcp.h"
#include "eddy/time.h"
#include "eddy/version.h"

#endif
