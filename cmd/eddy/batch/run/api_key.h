/*
 * batch/run/api_key.h - the API keys of a run: where their values come from, and when they are
 * replaced.
 *
 * A value may be replaced while requests that have it are in flight. Each refresh makes a new
 * generation of the key; a request remembers the generation that it was sent with, so a 401 to an
 * old value is recognised.
 */
#ifndef ED_CMD_BATCH_RUN_API_KEY_H
#define ED_CMD_BATCH_RUN_API_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/run/key_command.h"
#include "common/say.h"
#include "common/watched_file.h"
#include "eddy/def.h"
#include "eddy/lock.h"

enum {
        ED_API_KEYS_MAX = 64,
        ED_API_KEY_FILE_BYTES_MAX = 512 << 10,
        ED_API_KEY_OLD = 4, /* former values, kept because they must not be shown either */
};

enum ed_api_key_kind {
        ED_API_KEY_NONE,
        ED_API_KEY_FIXED,   /* from the environment, or from a file that is read once */
        ED_API_KEY_FILE,    /* one key per line; read again when it changes */
        ED_API_KEY_COMMAND, /* from the output of a command */
};

struct ed_api_key {
        char *value; /* NULL: none yet */
        char *old[ED_API_KEY_OLD];
        uint32_t generation;     /* 0: no value yet */
        int64_t refresh_wall_ns; /* replace the value then; INT64_MAX: not known */
        int64_t end_wall_ns;     /* the end of its life; INT64_MAX: not known */
        uint32_t failures;       /* of the command in a row, while the value was still good */
        bool was_refused;        /* a server has answered 401 to this generation */
        bool has_helped;         /* a server has accepted this generation */
        bool is_due;             /* refresh the key before the next request, at 'due_ns' */
        int64_t due_ns;
        uint32_t in_vain; /* generations in a row that were refused, and never accepted */
        uint32_t refused; /* 401 answers since a request was last accepted */
        bool is_gone;     /* the file no longer has this key */
};

/* All zero: no key. */
struct ed_api_keys {
        enum ed_api_key_kind kind;
        struct ed_say say;
        const char *from; /* the variable, file or command; borrowed */
        unsigned count;
        struct ed_api_key items[ED_API_KEYS_MAX]; /* key number 1 is the first */
        bool has_helped;                          /* a server has accepted any of them */
        uint32_t stubborn; /* requests in a row that new keys did not help, unlike others */
        uint64_t refreshes;
        uint64_t changes; /* of the file */
        struct ed_watched_file file;
        int64_t looked_ns; /* the file was looked at */
        bool fault_was_said, extra_was_said;
        eddy_lock lock; /* of the refresh */
        bool is_refreshing;
};

/*
 * Store the first values: one key per line of the text if 'kind' is ED_API_KEY_FILE, or else one
 * key. A key that occurs twice counts once.
 *
 * Errors: -EINVAL  'why' is the reason; -ENOMEM
 */
enum { ED_API_KEY_WHY_BYTES = 192 };
EDDY_MUST_USE int ed_api_keys_set(struct ed_api_keys *keys, const char *text, size_t bytes,
                                  char why[ED_API_KEY_WHY_BYTES]);

/* Wipe and free all values. */
void ed_api_keys_fini(struct ed_api_keys *keys);

/* Returns true if a text has a value of a key, or a former one. */
bool ed_api_keys_are_in(const struct ed_api_keys *keys, const char *text, size_t bytes);

/* Returns the value of a key, which is valid until the task suspends, and its generation. */
const char *ed_api_key_value(const struct ed_api_keys *keys, unsigned number,
                             uint32_t *ret_generation);

/*
 * Wait until a request may be sent with a key: refresh the key if that is due, or if the key is
 * about to expire. If the command fails before the key expires, it is tried again later. The file is
 * checked at most once a second.
 *
 * Suspends: yes. Errors: -ECANCELED, -ENOMEM; -EINVAL  no key could be read: 'why' is the reason
 */
EDDY_MUST_USE int ed_api_key_wait(struct ed_api_keys *keys, unsigned number,
                                  char why[ED_API_KEY_WHY_BYTES]);

/* Check the file now. */
void ed_api_keys_look(struct ed_api_keys *keys);

/* A server has accepted a request that was refused 'refusals' times before. */
void ed_api_key_accepted(struct ed_api_keys *keys, unsigned number, uint32_t generation,
                         unsigned refusals);

/* The next step after a 401. */
enum ed_api_key_verdict {
        ED_API_KEY_ANSWER, /* it is an answer to the request, as any other */
        ED_API_KEY_STALE,  /* repeat the request: it was sent with an old value */
        ED_API_KEY_REPEAT, /* repeat the request, with a new value */
        ED_API_KEY_USELESS /* new values do not help */
};

/*
 * A server has answered 401 to a request with this generation. 'refusals' is the number of
 * ED_API_KEY_REPEAT that this request had before. 'was_unauthorized' means that it got a 401 in an
 * earlier run too: then ED_API_KEY_USELESS is not the verdict. For the only key of a run.
 */
enum ed_api_key_verdict ed_api_key_refused(struct ed_api_keys *keys, unsigned number,
                                           uint32_t generation, unsigned refusals,
                                           bool was_unauthorized);

#endif
