/*
 * option.c - numbers and durations given as options.
 */
#include "option.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "duration.h"

int ed_option_count(const char *command, const char *option, const char *value, uint32_t min,
                    uint32_t max, uint32_t *ret_count)
{
        uint64_t count = 0;
        size_t digits = strspn(value, "0123456789");

        for (size_t i = 0; i < digits && count <= max; i++)
                count = count * 10 + (uint64_t) (value[i] - '0');
        if (digits == 0 || value[digits] != '\0' || count < min || count > max) {
                ed_console_usage(command, "%s %s: give a number from %u to %u", option, value, min,
                                 max);
                return -EINVAL;
        }
        *ret_count = (uint32_t) count;
        return 0;
}

int ed_option_duration(const char *command, const char *option, const char *value, int64_t min_ns,
                       int64_t *ret_ns)
{
        const char *why = NULL;
        int64_t ns;

        if (ed_duration_parse(value, &ns, &why) < 0) {
                ed_console_usage(command, "%s %s: %s %s", option, value,
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

int ed_option_refuse(const char *command, int found, char **argv)
{
        const char *word = argv[optind - 1];
        size_t name = strcspn(word, "=");

        /* A short option may stand inside a word; getopt has its letter. */
        if (optopt > 0 && optopt < 128 && strncmp(word, "--", 2) != 0)
                return found == ':' ? ed_console_usage(command, "-%c needs a value", optopt)
                                    : ed_console_usage(command, "unknown option -%c", optopt);
        if (found == ':')
                return ed_console_usage(command, "%.*s needs a value", (int) name, word);
        if (optopt != 0)
                return ed_console_usage(command, "%.*s takes no value", (int) name, word);
        return ed_console_usage(command, "unknown or ambiguous option %.*s", (int) name, word);
}

int ed_option_poller(const char *command)
{
        const char *poller = getenv("EDDY_POLLER");

        if (!poller || !*poller || strcmp(poller, "epoll") == 0)
                return ED_EXIT_OK;
        return ed_console_usage(command, "EDDY_POLLER=%s: epoll is the only one there is", poller);
}
