/*
 * io/process_strings.c - the arguments and the environment of a new process.
 *
 * The environment of this process is copied: while a thread starts the child, other tasks may call
 * setenv(3), which moves the environment.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "io/process.h"

#define SEARCH_DEFAULT "/usr/local/bin:/bin:/usr/bin"

/* The parts of an environment in the making. */
struct environment {
        char *const *base;
        const char *const *add; /* NULL: none */
        bool is_own;            /* 'base' must be copied */
        size_t count, bytes;    /* of the result; of its copied strings */
};

static size_t name_bytes(const char *entry)
{
        return strcspn(entry, "=");
}

static bool has_value(const char *entry)
{
        return entry[name_bytes(entry)] == '=';
}

/* Returns true if an entry of 'list' has the same name. */
static bool is_in(const char *entry, const char *const *list)
{
        size_t bytes = name_bytes(entry);

        for (; list && *list; list++)
                if (name_bytes(*list) == bytes && memcmp(*list, entry, bytes) == 0)
                        return true;
        return false;
}

/* Entries of the program need a name, and those that are not in 'add' a value. */
static int check_entries(const char *const *list, bool needs_value)
{
        for (; list && *list; list++)
                if (name_bytes(*list) == 0 || (needs_value && !has_value(*list)))
                        return -EINVAL;
        return 0;
}

/* Returns true if the i-th entry of 'add' sets a variable, and no later entry has its name. */
static bool is_set(const struct environment *environment, size_t i)
{
        const char *const *add = environment->add;

        return has_value(add[i]) && !is_in(add[i], add + i + 1);
}

static int environment_measure(struct environment *environment,
                               const struct eddy_process_opts *opts)
{
        int err = check_entries(opts->environment, true);

        if (err == 0)
                err = check_entries(opts->environment_add, false);
        if (err < 0)
                return err;
        *environment = (struct environment){ .add = opts->environment_add };
        environment->is_own = !opts->environment;
        environment->base =
                environment->is_own ? ed_process_environment() : (char *const *) opts->environment;
        for (char *const *entry = environment->base; entry && *entry; entry++) {
                if (is_in(*entry, environment->add))
                        continue;
                environment->count++;
                environment->bytes += environment->is_own ? strlen(*entry) + 1 : 0;
        }
        for (size_t i = 0; environment->add && environment->add[i]; i++)
                environment->count += is_set(environment, i);
        return 0;
}

/* Store 'count' entries and NULL at 'list', and copies of strings at 'text'. */
static void environment_write(const struct environment *environment, char **list, char *text)
{
        for (char *const *entry = environment->base; entry && *entry; entry++) {
                size_t bytes = strlen(*entry) + 1;

                if (is_in(*entry, environment->add))
                        continue;
                *list = *entry;
                if (environment->is_own) {
                        *list = memcpy(text, *entry, bytes);
                        text += bytes;
                }
                list++;
        }
        for (size_t i = 0; environment->add && environment->add[i]; i++)
                if (is_set(environment, i))
                        *list++ = (char *) environment->add[i];
        *list = NULL;
}

/* Returns the folders of PATH in an environment. */
static const char *search_of(char *const *environment)
{
        for (; *environment; environment++)
                if (strncmp(*environment, "PATH=", 5) == 0)
                        return *environment + 5;
        return SEARCH_DEFAULT;
}

/* Errors: -EINVAL. */
static int arguments_of(const struct eddy_process_opts *opts, struct ed_process_shell *shell,
                        struct ed_process_start *start)
{
        if (opts->command) {
                if (opts->arguments || opts->program)
                        return -EINVAL;
                *shell = (struct ed_process_shell){ { "/bin/sh", "-c", opts->command, NULL } };
                start->program = shell->arguments[0];
                start->arguments = (char *const *) shell->arguments;
                return 0;
        }
        if (!opts->arguments || !opts->arguments[0])
                return -EINVAL;
        start->arguments = (char *const *) opts->arguments;
        start->program = opts->program ? opts->program : opts->arguments[0];
        return 0;
}

int ed_process_strings_make(const struct eddy_process_opts *opts, struct ed_process_shell *shell,
                            struct ed_process_start *start)
{
        struct environment environment;
        size_t array_bytes;
        char **list;
        int err = arguments_of(opts, shell, start);

        if (err == 0)
                err = environment_measure(&environment, opts);
        if (err < 0)
                return err;
        /* A block with the array and the copied strings. */
        array_bytes = (environment.count + 1) * sizeof(char *);
        list = ed_alloc(array_bytes + environment.bytes);
        if (!list)
                return -ENOMEM;
        environment_write(&environment, list, (char *) list + array_bytes);
        start->environment = list;
        start->search = search_of(list);
        /* A folder, "/" or "./", the program, and a zero byte. */
        start->path_room = strlen(start->search) + strlen(start->program) + sizeof("./");
        start->path = ed_alloc(start->path_room);
        if (start->path)
                return 0;
        ed_free(list);
        start->environment = NULL;
        return -ENOMEM;
}

void ed_process_strings_free(struct ed_process_start *start)
{
        ed_free(start->path);
        ed_free((void *) start->environment);
}
