/*
 * eddy/eddy.h - includes all headers of eddy, except those of the test kit.
 */
#ifndef EDDY_EDDY_H
#define EDDY_EDDY_H

#include "eddy/alloc.h"
#include "eddy/barrier.h"
#include "eddy/base64.h"
#include "eddy/call.h"
#include "eddy/channel.h"
#include "eddy/condition.h"
#include "eddy/def.h"
#include "eddy/dns.h"
#include "eddy/dump.h"
#include "eddy/error.h"
#include "eddy/event.h"
#include "eddy/future.h"
#include "eddy/generator.h"
#include "eddy/http_client.h"
#include "eddy/http_date.h"
#include "eddy/http_server.h"
#include "eddy/http_text.h"
#include "eddy/lock.h"
#include "eddy/loop.h"
#include "eddy/queue.h"
#include "eddy/remote.h"
#include "eddy/run.h"
#include "eddy/scope.h"
#include "eddy/select.h"
#include "eddy/semaphore.h"
#include "eddy/signal.h"
#include "eddy/stack.h"
#include "eddy/stream.h"
#include "eddy/stream_ops.h"
#include "eddy/task.h"
#include "eddy/tcp.h"
#include "eddy/thread.h"
#include "eddy/time.h"
#include "eddy/var.h"
#include "eddy/version.h"
#include "eddy/wait.h"

#endif
