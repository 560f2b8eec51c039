/*
 * redis/command.c - formatting commands by hiredis, and what a command does to a connection.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "redis/redis.h"

/* In the order of their names. */
static const struct effect {
        const char *name;
        enum ed_redis_effect effect;
} effects[] = {
        { "AUTH", ED_REDIS_LOGS_IN },        { "BLMOVE", ED_REDIS_WAITS },
        { "BLMPOP", ED_REDIS_WAITS },        { "BLPOP", ED_REDIS_WAITS },
        { "BRPOP", ED_REDIS_WAITS },         { "BRPOPLPUSH", ED_REDIS_WAITS },
        { "BZMPOP", ED_REDIS_WAITS },        { "BZPOPMAX", ED_REDIS_WAITS },
        { "BZPOPMIN", ED_REDIS_WAITS },      { "DISCARD", ED_REDIS_CHANGES },
        { "EXEC", ED_REDIS_CHANGES },        { "HELLO", ED_REDIS_BREAKS },
        { "MONITOR", ED_REDIS_BREAKS },      { "MULTI", ED_REDIS_CHANGES },
        { "PSUBSCRIBE", ED_REDIS_BREAKS },   { "PSYNC", ED_REDIS_BREAKS },
        { "PUNSUBSCRIBE", ED_REDIS_BREAKS }, { "QUIT", ED_REDIS_BREAKS },
        { "READONLY", ED_REDIS_LOGS_IN },    { "RESET", ED_REDIS_LOGS_IN },
        { "SELECT", ED_REDIS_CHANGES },      { "SSUBSCRIBE", ED_REDIS_BREAKS },
        { "SUBSCRIBE", ED_REDIS_BREAKS },    { "SUNSUBSCRIBE", ED_REDIS_BREAKS },
        { "SYNC", ED_REDIS_BREAKS },         { "UNSUBSCRIBE", ED_REDIS_BREAKS },
        { "UNWATCH", ED_REDIS_CHANGES },     { "WAIT", ED_REDIS_WAITS },
        { "WAITAOF", ED_REDIS_WAITS },       { "WATCH", ED_REDIS_CHANGES },
};

enum { NAME_MAX_BYTES = 16 };

int64_t ed_redis_format(char **ret_data, const char *format, va_list args)
{
        locale_t locale = uselocale(ed_redis_plain_locale()); /* a point in numbers */
        int bytes = redisvFormatCommand(ret_data, format, args);

        uselocale(locale);
        if (bytes > 0 && (*ret_data)[1] == '0') {
                redisFreeCommand(*ret_data); /* no word in the format */
                return -EINVAL;
        }
        return bytes == -1 ? -ENOMEM : bytes <= 0 ? -EINVAL : bytes;
}

int64_t ed_redis_format_args(char **ret_data, uint32_t n, const char *const *args,
                             const size_t *bytes)
{
        size_t all = 0;
        int formatted;

        if (n == 0 || n > 1 << 20)
                return -EINVAL;
        for (uint32_t i = 0; i < n; i++) {
                size_t add = bytes ? bytes[i] : strlen(args[i]);

                if (add > INT32_MAX / 2 || all > INT32_MAX / 2) /* hiredis counts in an int */
                        return -EMSGSIZE;
                all += add + 32;
        }
        if (all > INT32_MAX / 2)
                return -EMSGSIZE;
        formatted =
                redisFormatCommandArgv(ret_data, (int) n, (const char **) (uintptr_t) args, bytes);
        return formatted < 0 ? -ENOMEM : formatted;
}

/* Find the next word "$BYTES\r\nWORD\r\n" of a formatted command; returns what follows, or NULL. */
static const char *next_word(const char *at, const char *end, const char **ret_word,
                             size_t *ret_bytes)
{
        char *text;
        unsigned long bytes;

        if (end - at < 4 || *at != '$')
                return NULL;
        bytes = strtoul(at + 1, &text, 10);
        *ret_word = text + 2;
        *ret_bytes = bytes;
        return *ret_word + bytes + 2;
}

static int compare(const void *key, const void *member)
{
        return strcmp(key, ((const struct effect *) member)->name);
}

/* Copy a word in capitals, as Redis reads it in each locale; "" for one that is too long. */
static const char *capitals(const char *word, size_t bytes, char name[NAME_MAX_BYTES + 1])
{
        if (bytes > NAME_MAX_BYTES)
                bytes = 0;
        for (size_t i = 0; i < bytes; i++)
                name[i] = (char) (word[i] >= 'a' && word[i] <= 'z' ? word[i] - 0x20 : word[i]);
        name[bytes] = '\0';
        return name;
}

/* XREAD and XREADGROUP wait if they have the option BLOCK, which is before STREAMS. */
static enum ed_redis_effect effect_of_xread(const char *at, const char *end)
{
        char name[NAME_MAX_BYTES + 1];
        const char *word;
        size_t bytes;

        while ((at = next_word(at, end, &word, &bytes)) != NULL) {
                if (strcmp(capitals(word, bytes, name), "BLOCK") == 0)
                        return ED_REDIS_WAITS;
                if (strcmp(name, "STREAMS") == 0)
                        break;
        }
        return ED_REDIS_PLAIN;
}

static enum ed_redis_effect effect_of_client(const char *at, const char *end)
{
        char name[NAME_MAX_BYTES + 1];
        const char *word;
        size_t bytes;

        if (!next_word(at, end, &word, &bytes))
                return ED_REDIS_PLAIN;
        capitals(word, bytes, name);
        if (strcmp(name, "REPLY") == 0)
                return ED_REDIS_BREAKS;
        return strncmp(name, "NO-", 3) == 0 || strcmp(name, "TRACKING") == 0 ||
                               strcmp(name, "SETNAME") == 0
                       ? ED_REDIS_LOGS_IN
                       : ED_REDIS_PLAIN;
}

enum ed_redis_effect ed_redis_effect(const char *data, size_t bytes)
{
        const char *end = data + bytes, *at, *word, *rest;
        const struct effect *found;
        char name[NAME_MAX_BYTES + 1];
        size_t n;

        at = memchr(data, '\n', bytes);
        rest = at ? next_word(at + 1, end, &word, &n) : NULL;
        if (!rest)
                return ED_REDIS_PLAIN;
        capitals(word, n, name);
        if (strcmp(name, "XREAD") == 0 || strcmp(name, "XREADGROUP") == 0)
                return effect_of_xread(rest, end);
        if (strcmp(name, "CLIENT") == 0)
                return effect_of_client(rest, end);
        found = bsearch(name, effects, ed_array_count(effects), sizeof(effects[0]), compare);
        return found ? found->effect : ED_REDIS_PLAIN;
}
