/*
 * eddy/notify.h - changes of files and folders, as they happen (inotify).
 *
 *     EDDY_AUTO(eddy_notify) eddy_notify *notify = NULL;
 *     struct eddy_notify_event event;
 *     int err = eddy_notify_open(NULL, &notify);
 *
 *     if (err == 0)
 *             err = eddy_notify_add(notify, "/etc/app");
 *     while (err >= 0 && (err = eddy_notify_next(notify, &event)) == 0)
 *             printf("%d %s\n", event.kind, event.name);
 *
 * A folder is watched without the folders in it.  Events for the same name are merged
 * for 50 ms (merge_ns) after the first, so a save is one event: a file that is created,
 * written several times and renamed is EDDY_NOTIFY_CREATED with its last name.  For a
 * program that processes finished files, EDDY_NOTIFY_REPORT_WRITTEN reports when a
 * writer has closed a file, and quiet_ns merges until no further event comes.
 *
 * Changes made by other machines on a network file system, and writes to mapped memory,
 * are not reported.  A file may change again after an event and before the program
 * reads the file, so an event says that the file has changed, not what it contains.
 */
#ifndef EDDY_NOTIFY_H
#define EDDY_NOTIFY_H

#include <stdbool.h>

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_notify eddy_notify;

enum { EDDY_NOTIFY_WATCHES_MAX = 1024, EDDY_NOTIFY_EVENTS_MAX = 65536 };

#define EDDY_NOTIFY_MERGE_NS     ((int64_t) 50 * 1000000)
#define EDDY_NOTIFY_MERGE_MAX_NS ((int64_t) 10 * 1000000000)

enum {
        /* Report EDDY_NOTIFY_WRITTEN. */
        EDDY_NOTIFY_REPORT_WRITTEN = 1 << 0,
};

/* All zero is the default. */
struct eddy_notify_opts {
        /*
         * Time from the first of the events that are merged to their delivery, at most
         * EDDY_NOTIFY_MERGE_MAX_NS.  0: EDDY_NOTIFY_MERGE_NS; negative: events are
         * delivered at once, and only those that already wait together are merged.
         */
        int64_t merge_ns EDDY_UNSET;
        uint32_t events_max EDDY_UNSET; /* that wait to be taken; 0: 1,024; at most
                                EDDY_NOTIFY_EVENTS_MAX */
        uint32_t flags EDDY_UNSET;      /* EDDY_NOTIFY_REPORT_* */
        /*
         * Deliver an event when its name has had no further event for this time, and at the
         * latest merge_ns after its first event.  A merge_ns of 0 then means
         * EDDY_NOTIFY_MERGE_MAX_NS, and a negative merge_ns is -EINVAL.  0: only merge_ns counts.
         */
        int64_t quiet_ns EDDY_UNSET;
        uintptr_t reserved[3] EDDY_UNSET; /* zero */
};

/*
 * Make an object that watches nothing yet.  'opts' NULL means the defaults.
 *
 * Suspends: no.
 * Errors: -EINVAL   an option is out of range
 *         -EMFILE   also if the user has too many (fs.inotify.max_user_instances)
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 *         -ENOTSUP  in the simulated system
 * Owns: returns (owned) '*ret_notify', to be closed by eddy_notify_close().
 */
EDDY_API EDDY_MUST_USE int eddy_notify_open(const struct eddy_notify_opts *opts,
                                            eddy_notify **ret_notify);

/*
 * Watch the file or the folder at 'path' from now on.  Symbolic links are followed.
 * Returns the number of the watch, which is above 0 and never used again.
 *
 * The watch is on the file, not on its name.  Many programs save by renaming another
 * file to 'path': then the watch ends with the old file.  To follow a name, watch its
 * folder.
 *
 * Suspends: no.  May wait for the disk if the path is not in the system's cache.
 * Errors: -ENOENT, -EACCES, -ENOTDIR, -ENAMETOOLONG, ...
 *         -EEXIST  the file is already watched, maybe by another path
 *         -ENOSPC  EDDY_NOTIFY_WATCHES_MAX watches, or the user has too many
 *                  (fs.inotify.max_user_watches)
 *         -EINVAL  'notify' or 'path' is NULL
 *         -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_notify_add(eddy_notify *notify, const char *path);

/*
 * End a watch.  Its events that were not taken are dropped.
 *
 * Suspends: no.
 * Errors: -EINVAL  'notify' is NULL, or there is no such watch: EDDY_NOTIFY_GONE may have
 *                  ended it
 */
EDDY_API int eddy_notify_remove(eddy_notify *notify, int watch);

enum eddy_notify_kind {
        EDDY_NOTIFY_CREATED = 1,  /* in a folder: 'name' is new, or now names another file */
        EDDY_NOTIFY_CHANGED = 2,  /* the content or the attributes (mode, owner, times, links) */
        EDDY_NOTIFY_REMOVED = 3,  /* from a folder: removed, or moved out of all watched folders */
        EDDY_NOTIFY_MOVED = 4,    /* in watched folders: from 'from' to 'name' */
        EDDY_NOTIFY_GONE = 5,     /* the watched file or folder itself was removed or moved, or its
                                     file system was unmounted: the watch has ended.  A file that
                                     is open is removed when it is closed. */
        EDDY_NOTIFY_OVERFLOW = 6, /* events of any watch were lost: look at all files again */
        EDDY_NOTIFY_WRITTEN = 7,  /* with EDDY_NOTIFY_REPORT_WRITTEN: a file that was open for
                                     writing was closed, even if nothing was written.  Replaces
                                     EDDY_NOTIFY_CHANGED; comes after EDDY_NOTIFY_CREATED. */
};

/* Texts are valid until the next call of eddy_notify_next() or eddy_notify_close(). */
struct eddy_notify_event {
        int kind;         /* enum eddy_notify_kind */
        int watch;        /* number of the watch; 0: EDDY_NOTIFY_OVERFLOW */
        const char *name; /* in the watched folder; "": the watched file or folder itself */
        int from_watch;   /* for EDDY_NOTIFY_MOVED, else 0 */
        const char *from; /* for EDDY_NOTIFY_MOVED: the former name; else "" */
        bool is_folder;   /* 'name' is a folder */
        uintptr_t reserved[2];
};

/*
 * Wait for the next event.  An event covers all changes of its name until it is
 * returned.  If more than 'events_max' events wait, memory is short, or the system's
 * queue is full (fs.inotify.max_queued_events), one EDDY_NOTIFY_OVERFLOW replaces all
 * events.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  no event was taken; also if 'notify' was closed meanwhile
 *         -EBUSY      another task waits
 *         -EINVAL     'notify' is NULL
 *         others from the system
 */
EDDY_API EDDY_MUST_USE int eddy_notify_next(eddy_notify *notify,
                                            struct eddy_notify_event *ret_event);

/*
 * End all watches and free the object.  A task in eddy_notify_next() gets -ECANCELED.
 * NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_notify_close(eddy_notify *notify);

static inline void eddy_notify_auto_release(eddy_notify **notify)
{
        eddy_notify_close(*notify);
}

EDDY_END_DECLS

#endif
