/*
 * common/option.c - parsing options, with suggestions for mistyped ones; numbers and durations.
 */
#include "common/option.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/console.h"
#include "common/duration.h"
#include "common/nearest.h"
#include "common/url_shown.h"
#include "eddy/version.h"

enum { WORDS_MAX = 128, NAME_BYTES_MAX = 32, CHOICES_MAX = 3, CHOICES_BYTES = 128 };

const char *ed_option_of_fault(const struct eddy_tls_fault *fault)
{
        if (strstr(fault->text, "private key of"))
                return "--key";
        return strstr(fault->text, "trusted certificates") ? "--cacert" : "--cert";
}

int ed_option_count(const char *command, const char *option, const char *value, uint32_t min,
                    uint32_t max, uint32_t *ret_count)
{
        uint64_t count = 0;
        size_t digits = strspn(value, "0123456789");

        for (size_t i = 0; i < digits && count <= max; i++)
                count = count * 10 + (uint64_t) (value[i] - '0');
        if (digits > 0 && value[digits] != '\0') {
                ed_console_usage(command, "%s %s: give a number from %u to %u, without \"%s\"",
                                 option, value, min, max, value + digits);
                return -EINVAL;
        }
        if (digits == 0 || count < min || count > max) {
                ed_console_usage(command, "%s %s: give a number from %u to %u", option, value, min,
                                 max);
                return -EINVAL;
        }
        *ret_count = (uint32_t) count;
        return 0;
}

int ed_option_port(const char *command, const char *option, const char *value, const char *text,
                   uint16_t *ret_port)
{
        uint32_t port = 0;
        size_t digits = strspn(text, "0123456789");

        for (size_t i = 0; i < digits && port <= UINT16_MAX; i++)
                port = port * 10 + (uint32_t) (text[i] - '0');
        if (digits == 0 || text[digits] != '\0' || port > UINT16_MAX) {
                ed_console_usage(command, "%s %s: port %s is not within 0 to 65535", option, value,
                                 *text ? text : "(nothing)");
                return -EINVAL;
        }
        *ret_port = (uint16_t) port;
        return 0;
}

int ed_option_duration(const char *command, const char *option, const char *value, int64_t min_ns,
                       int64_t *ret_ns)
{
        const char *why = NULL;
        int64_t ns;

        if (ed_duration_parse(value, &ns, &why) < 0) {
                ed_console_usage(command, "%s%s%s %s", option, *value ? " " : ": ",
                                 *value ? value : "an empty value", why);
                return -EINVAL;
        }
        if (ns < min_ns) {
                ed_console_usage(command, "%s %s: give a duration above 0, such as 2.5s", option,
                                 value);
                return -EINVAL;
        }
        *ret_ns = ns;
        return 0;
}

int ed_option_once(const char *command, const char *option, const char *value,
                   const char **ret_value)
{
        char now[ED_URL_SHOWN_BYTES], before[ED_URL_SHOWN_BYTES];

        if (*ret_value) {
                ed_console_usage(command, "%s %s: %s %s was given already; give one", option,
                                 ed_url_shown(now, value, strlen(value)), option,
                                 ed_url_shown(before, *ret_value, strlen(*ret_value)));
                return -EINVAL;
        }
        *ret_value = value;
        return 0;
}

/* Returns true if a name ends as that of a compressed file, of any kind or of one that no command writes. */
static bool name_is_packed(const char *value, bool any)
{
        static const char *const ends[] = { ".bz2", ".xz", ".gz", ".zst" };
        const char *end = strrchr(value, '.');

        for (size_t i = 0; end && i < (any ? 4 : 2); i++)
                if (strcmp(end, ends[i]) == 0)
                        return true;
        return false;
}

static int file_name_check(const char *command, const char *option, const char *value)
{
        if (*value)
                return 0;
        ed_console_usage(command, "%s: the name of the file is empty", option);
        return -EINVAL;
}

int ed_option_file(const char *command, const char *option, const char *value,
                   const char **ret_value)
{
        if (file_name_check(command, option, value) < 0)
                return -EINVAL;
        if (name_is_packed(value, true)) {
                ed_console_usage(command,
                                 "%s %s: the output is not compressed: leave out %s, and compress "
                                 "the file afterwards",
                                 option, value, strrchr(value, '.'));
                return -EINVAL;
        }
        return ed_option_once(command, option, value, ret_value);
}

int ed_option_result(const char *command, const char *option, const char *value,
                     const char **ret_value)
{
        if (file_name_check(command, option, value) < 0)
                return -EINVAL;
        if (name_is_packed(value, false)) {
                ed_console_usage(command,
                                 "%s %s: the output can be compressed as .gz or .zst: end its name "
                                 "in one of these, or leave out %s",
                                 option, value, strrchr(value, '.'));
                return -EINVAL;
        }
        return ed_option_once(command, option, value, ret_value);
}

int ed_option_amount(const char *command, const char *option, const char *value,
                     uint64_t *ret_amount)
{
        const char *unit = value + strspn(value, "0123456789");
        uint64_t amount = 0, factor = 1;

        if (*unit == 'k' || *unit == 'K')
                factor = 1000;
        else if (*unit == 'M')
                factor = 1000000;
        else if (*unit == 'G')
                factor = 1000000000;
        for (const char *digit = value; digit < unit && amount < (uint64_t) 1 << 48; digit++)
                amount = amount * 10 + (uint64_t) (*digit - '0');
        if (amount == 0 || amount > ((uint64_t) 1 << 48) / factor || (factor == 1 && *unit) ||
            (factor > 1 && unit[1])) {
                ed_console_usage(command, "%s %s: give a number above 0, such as 500, 90k or 2M",
                                 option, value);
                return -EINVAL;
        }
        *ret_amount = amount * factor;
        return 0;
}

int ed_option_word(const char *command, const char *option, const char *value,
                   const char *const *words, int n, const char *shown)
{
        for (int i = 0; i < n; i++) {
                if (strcmp(value, words[i]) == 0)
                        return i;
        }
        ed_console_usage(command, "%s %s: give one of %s", option, value, shown);
        return -EINVAL;
}

int ed_option_format(const char *command, const char *value, const char **ret_format)
{
        static const char *const formats[] = { "auto", "json", "csv" };
        int err = ed_option_word(command, "--format", value, formats, 3, "auto, json, csv");

        if (err < 0)
                return err;
        *ret_format = value;
        return 0;
}

/* Copy the part of 'word' before an "=", at most NAME_BYTES_MAX bytes. */
static const char *name_of(const char *word, char name[NAME_BYTES_MAX + 1])
{
        snprintf(name, NAME_BYTES_MAX + 1, "%.*s", (int) strcspn(word, "="), word);
        return name;
}

/*
 * Returns the option for that name or hint, as written on a command line ("--timeout", "-o"), or
 * NULL.
 */
static const char *option_find(const struct ed_option_set *set, const char *name,
                               char text[NAME_BYTES_MAX + 3])
{
        for (const struct option *option = set->longs; option->name; option++)
                if (strcmp(option->name, name) == 0) {
                        snprintf(text, NAME_BYTES_MAX + 3, "--%s", name);
                        return text;
                }
        for (const struct ed_option_hint *hint = set->hints; hint->word; hint++)
                if (strcmp(hint->word, name) == 0)
                        return hint->instead;
        return NULL;
}

/* As option_find(), for a mistyped name. */
static const char *option_guess(const struct ed_option_set *set, const char *name,
                                char text[NAME_BYTES_MAX + 3])
{
        const char *words[WORDS_MAX], *nearest;
        size_t n = 0;

        for (const struct option *option = set->longs; option->name && n < WORDS_MAX; option++)
                words[n++] = option->name;
        for (const struct ed_option_hint *hint = set->hints; hint->word && n < WORDS_MAX; hint++)
                if (hint->word[1]) /* a letter is near to any short name */
                        words[n++] = hint->word;
        nearest = ed_nearest(name, words, n);
        return nearest ? option_find(set, nearest, text) : NULL;
}

/* Print the long options with that prefix: "--body or --backoff". Returns their number. */
static int choices_print(const struct ed_option_set *set, const char *begin,
                         char text[CHOICES_BYTES])
{
        size_t at = 0;
        int count = 0;

        *text = '\0';
        for (const struct option *option = set->longs; option->name; option++) {
                if (strncasecmp(option->name, begin, strlen(begin)) != 0 || count == CHOICES_MAX)
                        continue;
                at += (size_t) snprintf(text + at, CHOICES_BYTES - at, "%s--%s",
                                        count++ > 0 ? " or " : "", option->name);
        }
        return count;
}

static bool is_option(const struct ed_option_set *set, const char *word)
{
        char name[NAME_BYTES_MAX + 1], text[NAME_BYTES_MAX + 3];

        if (word[0] != '-' || word[1] == '\0')
                return false;
        if (word[1] == '-')
                return option_find(set, name_of(word + 2, name), text);
        return word[1] != ':' && word[2] == '\0' && strchr(set->shorts, word[1]);
}

/*
 * Returns true, after a message, if 'word', which getopt_long() read as short options, is a long
 * option that lacks a dash.
 */
static bool dash_is_missing(const struct ed_option_set *set, const char *word)
{
        char name[NAME_BYTES_MAX + 1], text[NAME_BYTES_MAX + 3];
        const char *meant;

        if (!word || word[0] != '-' || word[1] == '-' || strlen(word) < 3)
                return false;
        meant = option_find(set, name_of(word + 1, name), text);
        if (meant)
                ed_console_usage(set->command, "unknown option -%s; did you mean %s?", name, meant);
        return meant;
}

static void short_refuse(const struct ed_option_set *set, char **argv)
{
        const char *word =
                argv[optind] && strchr(argv[optind], optopt) ? argv[optind] : argv[optind - 1];
        char letter[2] = { (char) optopt, '\0' }, text[CHOICES_BYTES];

        if (dash_is_missing(set, word))
                return;
        for (const struct ed_option_hint *hint = set->hints; hint->word; hint++)
                if (strcmp(hint->word, letter) == 0) {
                        ed_console_usage(set->command, "unknown option -%s; did you mean %s?",
                                         letter, hint->instead);
                        return;
                }
        if (choices_print(set, letter, text) > 0)
                ed_console_usage(set->command, "unknown option -%s; did you mean %s?", letter,
                                 text);
        else
                ed_console_usage(set->command, "unknown option -%s", letter);
}

static void long_refuse(const struct ed_option_set *set, const char *word)
{
        char name[NAME_BYTES_MAX + 1], text[CHOICES_BYTES];
        const char *meant;

        name_of(word + 2, name);
        if (choices_print(set, name, text) > 1) {
                ed_console_usage(set->command, "--%s may be %s: write one of them", name, text);
                return;
        }
        meant = option_guess(set, name, text);
        if (meant)
                ed_console_usage(set->command, "unknown option --%s; did you mean %s?", name,
                                 meant);
        else
                ed_console_usage(set->command, "unknown option --%s", name);
}

/* Report an error of getopt_long(), which returned 'found', '?' or ':'. */
static void option_refuse(const struct ed_option_set *set, int found, char **argv)
{
        const char *word = argv[optind - 1];
        bool is_short = optopt > 0 && optopt < 128;
        int name_bytes = (int) strcspn(word, "=");

        if (found == ':' && is_short)
                ed_console_usage(set->command, "-%c needs a value", optopt);
        else if (found == ':')
                ed_console_usage(set->command, "%.*s needs a value", name_bytes, word);
        else if (is_short)
                short_refuse(set, argv);
        else if (optopt != 0)
                ed_console_usage(set->command, "%.*s takes no value", name_bytes, word);
        else
                long_refuse(set, word);
}

/*
 * Returns true, after a message, if a value is probably a mistake: "--timeout --force", "-o=FILE",
 * "-data x".
 */
static bool value_is_mistaken(const struct ed_option_set *set, char **argv)
{
        const char *word = argv[optind - 1];

        if (optarg == word && is_option(set, optarg)) {
                ed_console_usage(set->command, "%s needs a value, and %s is an option",
                                 argv[optind - 2], word);
                return true;
        }
        if (optarg == word || word[1] == '-')
                return false;
        if (dash_is_missing(set, word))
                return true;
        if (*optarg != '=')
                return false;
        /* The value of a header may be a secret. */
        ed_console_usage(set->command, "-%c=: write -%c %s, without =", word[1], word[1],
                         word[1] == 'H' ? "'NAME: VALUE'" : optarg + 1);
        return true;
}

int ed_option_next(const struct ed_option_set *set, int argc, char **argv)
{
        int option;

        opterr = 0;
        optarg = NULL;
        option = getopt_long(argc, argv, set->shorts, set->longs, NULL);
        if (option == '?' || option == ':') {
                option_refuse(set, option, argv);
                return 0;
        }
        if (option != -1 && optarg && value_is_mistaken(set, argv))
                return 0;
        /* For example "-header", which begins with -h. */
        if (option != -1 && !optarg && dash_is_missing(set, argv[optind]))
                return 0;
        return option;
}

int ed_option_walk(const struct ed_option_set *set, const char *help, int argc, char **argv,
                   ed_option_fn *fn, void *arg, int *ret_exit)
{
        int option, err;

        optind = 1;
        while ((option = ed_option_next(set, argc, argv)) != -1) {
                if (option == 'h' || option == ED_OPTION_VERSION) {
                        *ret_exit = ed_console_print(
                                set->command, option == 'h' ? help : "eddy " EDDY_VERSION "\n");
                        return 1;
                }
                err = option == 0 ? -EINVAL : fn(arg, option, optarg);
                if (err == -ENOMEM)
                        ed_console_say(set->command, "out of memory");
                if (err < 0) {
                        *ret_exit = err == -ENOMEM ? ED_EXIT_FAILED : ED_EXIT_USAGE;
                        return 1;
                }
        }
        return 0;
}
