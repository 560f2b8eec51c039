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

enum {
        NAME_MAX_BYTES = 16,
        COMMAND_MAX = 1 << 30, /* bytes: hiredis counts in an int */
        WORD_ROOM = 32,        /* for the length of a word and its line ends */
        NUMBER_ROOM = 4096,    /* for a number, with its width and precision */
        WIDTH_DIGITS = 3,
        CONVERSION_MAX = 11, /* characters between the '%' and the last one */
};

/*
 * Read a conversion of a number, after its '%', and move '*at' to its last character.  Returns the
 * type of the argument: 'i', 'l' or 'L' for int, long and long long, 'd' for double, or 0 if the
 * conversion is not valid.
 */
static char number_kind(const char **at)
{
        static const char digits[] = "0123456789";
        const char *begin = *at, *c = begin + strspn(begin, "#0-+ ");
        size_t width = strspn(c, digits), precision = 0, shorts, longs;
        bool is_double;

        c += width;
        if (*c == '.') {
                precision = strspn(c + 1, digits);
                c += 1 + precision;
        }
        shorts = strspn(c, "h");
        longs = strspn(c, "l");
        c += shorts + longs;
        is_double = shorts + longs == 0 && *c && strchr("eEfFgGaA", *c);
        if (width > WIDTH_DIGITS || precision > WIDTH_DIGITS || shorts > 2 || longs > 2 ||
            c - begin > CONVERSION_MAX || !*c || !(is_double || strchr("diouxX", *c)))
                return 0;
        *at = c;
        return is_double ? 'd' : longs == 2 ? 'L' : longs == 1 ? 'l' : 'i';
}

/* Returns true if bytes can be added to a command whose size is '*all'. */
static bool fits(size_t *all, size_t bytes)
{
        if (bytes > COMMAND_MAX || *all > COMMAND_MAX - bytes)
                return false;
        *all += bytes;
        return true;
}

/*
 * Check a format and the size of its arguments. hiredis counts the bytes of a command in an int, reads
 * beyond the end of a format such as "%5", and leaves out a number with many flags.
 * Errors: -EINVAL, -EMSGSIZE
 */
static int check_format(const char *format, va_list args)
{
        size_t all = 0;

        for (const char *c = format; *c; c++) {
                const char *text = "";
                size_t bytes = WORD_ROOM; /* more than a character, or the rest of a word, needs */
                char kind = 0;

                if (*c == '%' && c[1]) {
                        c++;
                        kind = *c == 's' || *c == 'b' || *c == '%' ? *c : number_kind(&c);
                        if (!kind)
                                return -EINVAL;
                }
                if (kind == 's' || kind == 'b') {
                        text = va_arg(args, const char *);
                        bytes = kind == 'b' ? va_arg(args, size_t) : text ? strlen(text) : 1;
                } else if (kind == 'i') {
                        (void) va_arg(args, int);
                } else if (kind == 'l') {
                        (void) va_arg(args, long);
                } else if (kind == 'L') {
                        (void) va_arg(args, long long);
                } else if (kind == 'd') {
                        (void) va_arg(args, double);
                }
                if (!text && bytes > 0)
                        return -EINVAL;
                if (!fits(&all, bytes) ||
                    (kind && kind != 's' && kind != 'b' && !fits(&all, NUMBER_ROOM)))
                        return -EMSGSIZE;
        }
        return 0;
}

int64_t ed_redis_format(char **ret_data, const char *format, va_list args)
{
        locale_t locale;
        va_list copy;
        int bytes;

        va_copy(copy, args);
        bytes = check_format(format, copy);
        va_end(copy);
        if (bytes < 0)
                return bytes;
        locale = uselocale(ed_redis_plain_locale()); /* a point in numbers */
        bytes = redisvFormatCommand(ret_data, format, args);
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
                size_t add = bytes ? bytes[i] : args[i] ? strlen(args[i]) : 1;

                if (!args[i] && add > 0)
                        return -EINVAL;
                if (!fits(&all, add) || !fits(&all, WORD_ROOM))
                        return -EMSGSIZE;
        }
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
