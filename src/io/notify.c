/*
 * io/notify.c - changes of files and folders.
 *
 * Only a task in eddy_notify_next() reads from the kernel: until then the kernel's own queue, which
 * has a limit, keeps the events. The events that were read are in a queue of the object, in order;
 * an event leaves the queue when it is old enough, so that later events of the same name can be
 * merged with it. An event for which there is no room or no memory is lost as in the kernel, by an
 * overflow.
 */
#include "eddy/notify.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "eddy/call.h"
#include "eddy/error.h"
#include "eddy/time.h"
#include "io/watch.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "sys/file/notify.h"

enum {
        EVENTS_DEFAULT = 1024,
        READ_BYTES = 4096,
        READS_MAX = 16,  /* without letting other tasks run */
        SEARCH_MAX = 256 /* entries among which an event to merge with is searched */
};

/* A file that was renamed and may get its new name: the second half has the same cookie. */
enum { KIND_LEFT = 100 };

struct entry {
        struct ed_list link;
        int64_t first_ns; /* when its first event was read */
        int64_t due_ns;
        int kind; /* enum eddy_notify_kind, or KIND_LEFT */
        int watch, from_watch;
        uint32_t cookie; /* of KIND_LEFT */
        bool is_folder;
        bool was_there;   /* a file may have had the name before the first of the merged events */
        const char *from; /* in 'name' */
        char name[];      /* two texts */
};

/* A task in eddy_notify_next(), on its stack. */
struct user {
        eddy_notify *notify; /* NULL: closed meanwhile */
};

struct eddy_notify {
        struct ed_watch watch; /* contains the descriptor */
        struct user *user;
        int64_t merge_ns, quiet_ns;
        uint32_t flags;
        uint32_t events_max, events_count;
        bool lost;              /* an overflow is to be reported, before all of 'events' */
        struct ed_list events;  /* in order of 'due_ns' */
        struct entry *returned; /* its texts are the program's until the next call */
        uint32_t watches_count;
        int watches[EDDY_NOTIFY_WATCHES_MAX]; /* increasing */
        _Alignas(8) char buf[READ_BYTES];
};

/* --- the queue --- */

static void entry_free(eddy_notify *notify, struct entry *entry)
{
        ed_list_remove(&entry->link);
        notify->events_count--;
        ed_free(entry);
}

static void queue_empty(eddy_notify *notify)
{
        while (!ed_list_is_empty(&notify->events))
                entry_free(notify, ed_container_of(notify->events.next, struct entry, link));
}

/* An overflow means that all files are worth a look: the events before it say no more. */
static void lose(eddy_notify *notify)
{
        queue_empty(notify);
        notify->lost = true;
}

static int64_t due_at(const eddy_notify *notify, int64_t first_ns, int64_t now_ns)
{
        int64_t latest_ns = first_ns + notify->merge_ns;

        if (notify->quiet_ns == 0 || now_ns + notify->quiet_ns > latest_ns)
                return latest_ns;
        return now_ns + notify->quiet_ns;
}

/* Put an entry into the queue, after those that are due at the same time. */
static void enqueue(eddy_notify *notify, struct entry *entry)
{
        struct ed_list *after = notify->events.prev;

        while (after != &notify->events &&
               ed_container_of(after, struct entry, link)->due_ns > entry->due_ns)
                after = after->prev;
        ed_list_push_front(after, &entry->link);
}

/* Another event was merged with an entry: its quiet time begins again. */
static void touch(eddy_notify *notify, struct entry *entry)
{
        if (notify->quiet_ns == 0)
                return;
        entry->due_ns = due_at(notify, entry->first_ns, ed_loop_now(notify->watch.member.loop));
        ed_list_remove(&entry->link);
        enqueue(notify, entry);
}

/* Returns an entry outside of the queue, or NULL, after which events are lost. */
static struct entry *entry_new(eddy_notify *notify, int kind, const struct ed_notify_event *event,
                               const char *from)
{
        size_t name_bytes = strlen(event->name) + 1, from_bytes = strlen(from) + 1;
        struct entry *entry = NULL;

        if (notify->events_count < notify->events_max)
                entry = ed_alloc_zero(sizeof(*entry) + name_bytes + from_bytes);
        if (!entry) {
                lose(notify);
                return NULL;
        }
        entry->kind = kind;
        entry->watch = event->watch;
        entry->cookie = event->cookie;
        entry->is_folder = event->flags & ED_NOTIFY_FOLDER;
        /* A move may replace a file. */
        entry->was_there = kind != EDDY_NOTIFY_CREATED || event->flags & ED_NOTIFY_MOVED_TO;
        entry->first_ns = ed_loop_now(notify->watch.member.loop);
        entry->due_ns = due_at(notify, entry->first_ns, entry->first_ns);
        memcpy(entry->name, event->name, name_bytes);
        memcpy(entry->name + name_bytes, from, from_bytes);
        entry->from = entry->name + name_bytes;
        notify->events_count++;
        return entry;
}

static void push(eddy_notify *notify, int kind, const struct ed_notify_event *event)
{
        struct entry *entry = entry_new(notify, kind, event, "");

        if (entry)
                enqueue(notify, entry);
}

/* Returns the last entry of a name, other than 'except', or NULL. */
static struct entry *entry_find(eddy_notify *notify, int watch, const char *name,
                                const struct entry *except)
{
        struct ed_list *link = notify->events.prev;

        for (int i = 0; i < SEARCH_MAX && link != &notify->events; i++, link = link->prev) {
                struct entry *entry = ed_container_of(link, struct entry, link);

                if (entry != except && entry->watch == watch && strcmp(entry->name, name) == 0)
                        return entry;
        }
        return NULL;
}

/* Returns the first half of a rename, or NULL. */
static struct entry *left_find(eddy_notify *notify, uint32_t cookie)
{
        struct ed_list *link = notify->events.prev;

        for (int i = 0; i < SEARCH_MAX && link != &notify->events; i++, link = link->prev) {
                struct entry *entry = ed_container_of(link, struct entry, link);

                if (entry->kind == KIND_LEFT && entry->cookie == cookie)
                        return entry;
        }
        return NULL;
}

/* --- merging --- */

static bool is_change(const struct entry *entry)
{
        return entry->kind == EDDY_NOTIFY_CHANGED || entry->kind == EDDY_NOTIFY_WRITTEN;
}

static void created(eddy_notify *notify, const struct ed_notify_event *event)
{
        struct entry *before = entry_find(notify, event->watch, event->name, NULL);

        if (!before) {
                push(notify, EDDY_NOTIFY_CREATED, event);
                return;
        }
        touch(notify, before);
        if (before->kind == EDDY_NOTIFY_REMOVED || before->kind == KIND_LEFT) {
                before->kind = EDDY_NOTIFY_CREATED;
                before->is_folder = event->flags & ED_NOTIFY_FOLDER;
        } else if (is_change(before)) {
                before->kind = EDDY_NOTIFY_CREATED;
        }
}

static void changed(eddy_notify *notify, const struct ed_notify_event *event)
{
        struct entry *before = entry_find(notify, event->watch, event->name, NULL);

        if (!before || before->kind == EDDY_NOTIFY_REMOVED || before->kind == KIND_LEFT) {
                push(notify, EDDY_NOTIFY_CHANGED, event);
                return;
        }
        if (before->kind == EDDY_NOTIFY_WRITTEN)
                before->kind = EDDY_NOTIFY_CHANGED; /* not complete any more */
        touch(notify, before);
}

static void written(eddy_notify *notify, const struct ed_notify_event *event)
{
        struct entry *before = entry_find(notify, event->watch, event->name, NULL);

        if (!(notify->flags & EDDY_NOTIFY_REPORT_WRITTEN))
                return;
        if (!before || !is_change(before)) {
                push(notify, EDDY_NOTIFY_WRITTEN, event);
                return;
        }
        before->kind = EDDY_NOTIFY_WRITTEN;
        touch(notify, before);
}

static void removed(eddy_notify *notify, const struct ed_notify_event *event)
{
        struct entry *before = entry_find(notify, event->watch, event->name, NULL);

        /* A new file may have replaced one that the program knows. */
        if (!before || (!is_change(before) && before->kind != EDDY_NOTIFY_CREATED)) {
                push(notify, EDDY_NOTIFY_REMOVED, event);
                return;
        }
        before->kind = EDDY_NOTIFY_REMOVED;
        touch(notify, before);
}

/* The second half of a rename. */
static void moved_to(eddy_notify *notify, const struct ed_notify_event *event)
{
        struct entry *left = left_find(notify, event->cookie), *before, *moved;
        bool was_written;

        if (!left) {
                created(notify, event);
                return;
        }
        before = entry_find(notify, left->watch, left->name, left);
        was_written = before && before->kind == EDDY_NOTIFY_WRITTEN;
        if (was_written) {
                entry_free(notify, before);
                before = entry_find(notify, left->watch, left->name, left);
        }
        if (before && before->kind == EDDY_NOTIFY_CREATED) {
                /* Unless it was there, the program has not heard of the former name. */
                if (before->was_there)
                        before->kind = EDDY_NOTIFY_REMOVED;
                else
                        entry_free(notify, before);
                entry_free(notify, left);
                created(notify, event);
                if (was_written)
                        written(notify, event);
                return;
        }
        if (before && before->kind == EDDY_NOTIFY_CHANGED)
                entry_free(notify, before);
        moved = entry_new(notify, EDDY_NOTIFY_MOVED, event, left->name);
        if (!moved)
                return;
        moved->from_watch = left->watch;
        moved->due_ns = left->due_ns;
        ed_list_push_back(&left->link, &moved->link); /* before it */
        entry_free(notify, left);
        if (was_written)
                written(notify, event);
}

/* --- watches --- */

/* Returns the place of a watch, or that where it would be. */
static uint32_t watch_place(const eddy_notify *notify, int watch)
{
        uint32_t low = 0, high = notify->watches_count;

        while (low < high) {
                uint32_t middle = (low + high) / 2;

                if (notify->watches[middle] < watch)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static bool has_watch(const eddy_notify *notify, int watch)
{
        uint32_t place = watch_place(notify, watch);

        return place < notify->watches_count && notify->watches[place] == watch;
}

static void watch_forget(eddy_notify *notify, int watch)
{
        uint32_t place = watch_place(notify, watch);
        struct ed_sys *sys = notify->watch.member.loop->sys;

        notify->watches_count--;
        memmove(&notify->watches[place], &notify->watches[place + 1],
                (notify->watches_count - place) * sizeof(notify->watches[0]));
        sys->notify->remove(sys, notify->watch.fd, watch);
}

static int check(const eddy_notify *notify)
{
        return notify ? ed_member_check(&notify->watch.member) : -EINVAL;
}

int eddy_notify_add(eddy_notify *notify, const char *path)
{
        struct ed_sys *sys;
        uint32_t place;
        int watch, err = check(notify);

        if (err < 0)
                return err;
        if (!path)
                return -EINVAL;
        if (notify->watches_count == EDDY_NOTIFY_WATCHES_MAX)
                return -ENOSPC;
        sys = notify->watch.member.loop->sys;
        watch = sys->notify->add(sys, notify->watch.fd, path);
        if (watch < 0)
                return watch;
        place = watch_place(notify, watch);
        if (has_watch(notify, watch))
                return -EEXIST;
        memmove(&notify->watches[place + 1], &notify->watches[place],
                (notify->watches_count - place) * sizeof(notify->watches[0]));
        notify->watches[place] = watch;
        notify->watches_count++;
        return watch;
}

int eddy_notify_remove(eddy_notify *notify, int watch)
{
        int err = check(notify);

        if (err < 0)
                return err;
        if (!has_watch(notify, watch))
                return -EINVAL;
        watch_forget(notify, watch);
        ed_list_each_safe (link, &notify->events) {
                struct entry *entry = ed_container_of(link, struct entry, link);

                if (entry->watch == watch)
                        entry_free(notify, entry);
        }
        return 0;
}

/* --- events --- */

static void gone(eddy_notify *notify, const struct ed_notify_event *event)
{
        struct entry *before = entry_find(notify, event->watch, "", NULL);

        watch_forget(notify, event->watch);
        if (before && is_change(before))
                before->kind = EDDY_NOTIFY_GONE;
        else
                push(notify, EDDY_NOTIFY_GONE, event);
}

static void event_add(eddy_notify *notify, const struct ed_notify_event *event)
{
        if (event->flags & ED_NOTIFY_LOST)
                lose(notify);
        else if (!has_watch(notify, event->watch))
                return; /* the watch has ended since */
        else if (event->flags & ED_NOTIFY_GONE)
                gone(notify, event);
        else if (event->flags & ED_NOTIFY_CREATED)
                created(notify, event);
        else if (event->flags & ED_NOTIFY_CHANGED)
                changed(notify, event);
        else if (event->flags & ED_NOTIFY_WRITTEN)
                written(notify, event);
        else if (event->flags & ED_NOTIFY_REMOVED)
                removed(notify, event);
        else if (event->flags & ED_NOTIFY_MOVED_FROM)
                push(notify, KIND_LEFT, event);
        else if (event->flags & ED_NOTIFY_MOVED_TO)
                moved_to(notify, event);
}

/* Read events until there are none, or other tasks should run first. */
static int drain(eddy_notify *notify)
{
        struct ed_sys *sys = notify->watch.member.loop->sys;

        for (int i = 0; i < READS_MAX && notify->watch.ready[ED_WATCH_READ]; i++) {
                int64_t n = sys->notify->read(sys, notify->watch.fd, notify->buf, READ_BYTES);
                struct ed_notify_event event;

                notify->watch.ready[ED_WATCH_READ] = n != -EAGAIN;
                if (n < 0)
                        return n == -EAGAIN ? 0 : ed_io_error(n);
                for (size_t at = 0; at < (size_t) n;) {
                        at += ed_notify_parse(notify->buf + at, (size_t) n - at, &event);
                        event_add(notify, &event);
                }
        }
        return 0;
}

/* Returns the time until the first event is due; -1: there is none. */
static int64_t time_left(const eddy_notify *notify)
{
        int64_t left_ns;

        if (notify->lost)
                return 0;
        if (ed_list_is_empty(&notify->events))
                return -1;
        left_ns = ed_container_of(notify->events.next, struct entry, link)->due_ns -
                  ed_loop_now(notify->watch.member.loop);
        return left_ns > 0 ? left_ns : 0;
}

static int wait_call(void *arg)
{
        struct ed_watch *watch = &((struct user *) arg)->notify->watch;
        struct ed_task *task;
        int err;

        if (watch->ready[ED_WATCH_READ])
                return eddy_sleep(0);
        err = ed_suspend_enter(&task);
        return err < 0 ? err : ed_watch_wait(watch, ED_WATCH_READ, task, "a change of a file");
}

/* Wait for events, for at most 'left_ns' (-1: no limit). After an error the object may be gone. */
static int wait(eddy_notify *notify, int64_t left_ns)
{
        struct user user = { notify };
        int err;

        notify->user = &user;
        err = left_ns < 0 ? wait_call(&user) : eddy_call_timeout(wait_call, &user, left_ns);
        if (!user.notify)
                return -ECANCELED;
        notify->user = NULL;
        return err == -ETIMEDOUT ? 0 : err;
}

/* Give the first event to the program. */
static void event_take(eddy_notify *notify, struct eddy_notify_event *ret_event)
{
        struct entry *entry;

        *ret_event = (struct eddy_notify_event){ .name = "", .from = "" };
        if (notify->lost) {
                notify->lost = false;
                ret_event->kind = EDDY_NOTIFY_OVERFLOW;
                return;
        }
        entry = ed_container_of(notify->events.next, struct entry, link);
        ed_list_remove(&entry->link);
        notify->events_count--;
        notify->returned = entry;
        ret_event->kind = entry->kind == KIND_LEFT ? EDDY_NOTIFY_REMOVED : entry->kind;
        ret_event->watch = entry->watch;
        ret_event->name = entry->name;
        ret_event->from_watch = entry->from_watch;
        ret_event->from = entry->from;
        ret_event->is_folder = entry->is_folder;
}

int eddy_notify_next(eddy_notify *notify, struct eddy_notify_event *ret_event)
{
        struct ed_task *task;
        int64_t left_ns;
        int err;

        if (!notify)
                return -EINVAL;
        for (;;) {
                /* The end of a wait is not a result, so a cancel takes precedence. */
                err = ed_suspend_enter(&task);
                if (err == 0)
                        err = check(notify);
                if (err < 0)
                        return err;
                if (notify->user)
                        return -EBUSY;
                err = drain(notify);
                if (err < 0)
                        return err;
                left_ns = time_left(notify);
                if (left_ns == 0)
                        break;
                err = wait(notify, left_ns);
                if (err < 0)
                        return err;
        }
        ed_free(notify->returned);
        notify->returned = NULL;
        event_take(notify, ret_event);
        ed_suspend_passed(task);
        return 0;
}

/* --- opening and closing --- */

static bool opts_check(const struct eddy_notify_opts *opts)
{
        return opts->merge_ns <= EDDY_NOTIFY_MERGE_MAX_NS && opts->quiet_ns >= 0 &&
               opts->quiet_ns <= EDDY_NOTIFY_MERGE_MAX_NS &&
               (opts->quiet_ns == 0 || opts->merge_ns >= 0) &&
               !(opts->flags & ~(uint32_t) EDDY_NOTIFY_REPORT_WRITTEN) &&
               opts->events_max <= EDDY_NOTIFY_EVENTS_MAX;
}

static void take_opts(eddy_notify *notify, const struct eddy_notify_opts *opts)
{
        notify->flags = opts->flags;
        notify->quiet_ns = opts->quiet_ns;
        notify->merge_ns = opts->merge_ns;
        if (notify->merge_ns == 0)
                notify->merge_ns = opts->quiet_ns ? EDDY_NOTIFY_MERGE_MAX_NS : EDDY_NOTIFY_MERGE_NS;
        if (notify->merge_ns < 0)
                notify->merge_ns = 0;
        notify->events_max = opts->events_max ? opts->events_max : EVENTS_DEFAULT;
}

int eddy_notify_open(const struct eddy_notify_opts *opts, eddy_notify **ret_notify)
{
        static const struct eddy_notify_opts none;
        struct ed_loop *loop = ed_loop_current;
        eddy_notify *notify;
        int fd;

        if (opts && !opts_check(opts))
                return -EINVAL;
        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!loop->sys->notify)
                return -ENOTSUP;
        notify = ed_alloc_zero(sizeof(*notify));
        if (!notify)
                return -ENOMEM;
        fd = loop->sys->notify->open(loop->sys);
        if (fd < 0) {
                ed_free(notify);
                return fd;
        }
        ed_watch_init(&notify->watch, loop, fd);
        ed_list_init(&notify->events);
        take_opts(notify, opts ? opts : &none);
        ed_debug_made(notify, ED_DEBUG_NOTIFY);
        *ret_notify = notify;
        return 0;
}

void eddy_notify_close(eddy_notify *notify)
{
        if (!notify || !ed_misuse_may_close(&notify->watch.member, "a notify object"))
                return;
        ed_debug_gone(notify);
        if (notify->user)
                notify->user->notify = NULL;
        ed_watch_close(&notify->watch, false);
        queue_empty(notify);
        ed_free(notify->returned);
        ed_free(notify);
}
