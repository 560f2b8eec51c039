/*
 * batch/shard_names.c - see shard_names.h.
 */
#include "batch/shard_names.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "common/console.h"
#include "common/draft.h"
#include "eddy/alloc.h"

static const char place[] = "%i";

/* Returns the name with numbers, or NULL if memory is short. */
static char *name_fill(const char *name, uint32_t index)
{
        struct ed_draft text = { 0 };
        const char *next;

        for (; (next = strstr(name, place)); name = next + strlen(place)) {
                ed_draft_add(&text, name, (size_t) (next - name));
                ed_draft_add_u64(&text, index);
        }
        ed_draft_add(&text, name, strlen(name) + 1);
        if (ed_draft_is_whole(&text))
                return text.data;
        ed_draft_fini(&text);
        return NULL;
}

/* Without a shard, a name with the place is a mistake, unless its file exists: an older run made it. */
static int name_refuse(const char *command, const char *option, bool is_own, const char *name)
{
        if (!is_own || !ed_shard_names_has_place(name) || access(name, F_OK) == 0)
                return 0;
        return ed_console_usage(command,
                                "%s %s: %%i is the number of the shard, and --shard is not given; "
                                "add --shard i/n, or use a name without %%i",
                                option, name);
}

bool ed_shard_names_has_place(const char *name)
{
        return strstr(name, place) != NULL;
}

bool ed_shard_names_has(const struct ed_shard_names *names, const char *name)
{
        for (unsigned i = 0; i < names->count; i++)
                if (names->texts[i] == name)
                        return true;
        return false;
}

int ed_shard_names_set(struct ed_shard_names *names, const char *command, struct ed_shard shard,
                       const char *option, bool is_own, const char **name)
{
        char *text;

        if (!*name)
                return 0;
        if (shard.count == 0)
                return name_refuse(command, option, is_own, *name);
        if (is_own && !ed_shard_names_has_place(*name))
                return ed_console_usage(
                        command,
                        "%s %s: with --shard, the name must have %%i, which becomes "
                        "the number of the shard, so that each shard has its own",
                        option, *name);
        text = names->count < ED_SHARD_NAMES_MAX ? name_fill(*name, shard.index) : NULL;
        if (!text) {
                ed_console_say(command, "out of memory");
                return ED_EXIT_FAILED;
        }
        names->texts[names->count++] = text;
        *name = text;
        return 0;
}

void ed_shard_names_fini(struct ed_shard_names *names)
{
        for (unsigned i = 0; i < names->count; i++)
                eddy_free(names->texts[i]);
        names->count = 0;
}
