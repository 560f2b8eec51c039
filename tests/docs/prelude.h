/*
 * prelude.h - what the blocks of C in the documents take for granted: names
 * that a reader understands without their definitions.
 */
#ifndef DOCS_PRELUDE_H
#define DOCS_PRELUDE_H

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"
#include "eddy/test.h"

struct page {
        const char *url;
        int status;
};

/* Functions that suspend. */
int load(void *page);
int save(void *page);
int app(void *arg);
int ask_first(void *arg);
int ask_second(void *arg);
int serve(void *stream);

/* Functions that do not. */
int resize(void *picture);
int picture_is_ready(void *picture);
int report_progress(void *arg);
int input_arrived(void *fd);
void use(const void *item);
void notify_peer(void);

extern struct page page, pages[3];
extern eddy_scope *requests;
extern eddy_lock lock;
extern eddy_event event;
extern eddy_condition changed;
extern eddy_queue queue;
extern eddy_loop *loop, *other_loop;
extern eddy_task *tasks[3], *task;
extern eddy_http_client *client;
extern int there_is_work, fd;

#endif
