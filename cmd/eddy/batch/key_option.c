/*
 * batch/key_option.c - see key_option.h.
 */
#include "batch/key_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/console.h"
#include "common/slurp.h"
#include "eddy/alloc.h"

/* Begin with the keys of an option, which 'from' names. Errors: -EINVAL */
static int keys_begin(struct ed_api_keys *keys, enum ed_api_key_kind kind, const char *option,
                      const char *from)
{
        if (keys->kind != ED_API_KEY_NONE) {
                ed_console_usage("batch", "%s: an API key was given already; give one", option);
                return -EINVAL;
        }
        keys->kind = kind;
        keys->from = from;
        return 0;
}

/* Store the keys of a text, which came 'from'. */
static int text_set(struct ed_api_keys *keys, const char *option, const char *from,
                    const char *text, size_t bytes)
{
        char why[ED_API_KEY_WHY_BYTES];
        int err = ed_api_keys_set(keys, text, bytes, why);

        if (err == -EINVAL)
                ed_console_usage("batch", "%s %s: %s", option, from, why);
        return err;
}

int ed_key_option_env(struct ed_api_keys *keys, const char *name)
{
        const char *key = getenv(name);
        int err;

        /* A name with other characters may be the key itself. */
        if (!key && name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")]) {
                ed_console_usage("batch", "--api-key-env: this variable is not set; give the name "
                                          "of one, such as OPENAI_API_KEY, not the key");
                return -EINVAL;
        }
        if (!key) {
                ed_console_usage("batch", "--api-key-env %s: this variable is not set; export it",
                                 name);
                return -EINVAL;
        }
        err = keys_begin(keys, ED_API_KEY_FIXED, "--api-key-env", name);
        return err < 0 ? err : text_set(keys, "--api-key-env", name, key, strlen(key));
}

int ed_key_option_file(struct ed_api_keys *keys, const char *path)
{
        char *text;
        size_t bytes;
        int err = keys_begin(keys, ED_API_KEY_FILE, "--api-key-file", path);

        if (err < 0)
                return err;
        /* Before the file is read, so that a change while it is read is noticed later. */
        (void) ed_watched_file_look(path, &keys->file);
        err = ed_slurp("batch", "--api-key-file ", path, ED_API_KEY_FILE_BYTES_MAX, &text, &bytes);
        if (err < 0)
                return err;
        err = text_set(keys, "--api-key-file", path, text, bytes);
        explicit_bzero(text, bytes);
        eddy_free(text);
        /* Standard input and pipes have no second text. */
        if (strcmp(path, "-") == 0 || !keys->file.is_regular)
                keys->kind = ED_API_KEY_FIXED;
        return err;
}

int ed_key_option_command(struct ed_api_keys *keys, const char *command)
{
        if (command[strspn(command, " \t\n")] == '\0') {
                ed_console_usage("batch", "--api-key-command: it is empty; give a command that "
                                          "prints the key");
                return -EINVAL;
        }
        keys->count = 1;
        return keys_begin(keys, ED_API_KEY_COMMAND, "--api-key-command", command);
}
