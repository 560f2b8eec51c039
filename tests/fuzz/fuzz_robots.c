/*
 * fuzz_robots.c - any bytes as a robots.txt, after the target, which ends at the first NUL or LF.
 *
 * The answer does not depend on the case of the crawler's name, on lines that are not rules, or on a
 * group of another crawler. "/robots.txt" is always allowed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/robots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* After any text: the first line ends the text's last line. */
static const char no_rules[] = "\r\n# Disallow: /\n\nSitemap: https://a/b\nDisallow /\n:\n";
/* The empty rule ends a group that may have no rule yet. */
static const char other[] = "\nDisallow:\nUser-agent: other\nDisallow: /\nAllow: *\n";

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

/* Returns the answer for the text and 'more', in a copy so that its bounds are checked. */
static bool allows_with(const char *text, size_t bytes, const char *more, const char *agent,
                        const char *target)
{
        size_t more_bytes = strlen(more);
        char *copy = malloc(bytes + more_bytes);
        bool allows;

        require(copy || bytes + more_bytes == 0);
        if (bytes > 0)
                memcpy(copy, text, bytes);
        if (more_bytes > 0)
                memcpy(copy + bytes, more, more_bytes);
        allows = eddy_robots_allow(copy, bytes + more_bytes, agent, target);
        free(copy);
        return allows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        size_t target_bytes = 0;
        char *target;
        bool allows;

        while (target_bytes < bytes && data[target_bytes] && data[target_bytes] != '\n')
                target_bytes++;
        target = strndup((const char *) data, target_bytes);
        require(target != NULL);
        data += target_bytes;
        bytes -= target_bytes;
        allows = allows_with((const char *) data, bytes, "", "a-bot", target);
        require(allows_with((const char *) data, bytes, "", "A-BOT", target) == allows);
        require(allows_with((const char *) data, bytes, no_rules, "a-bot", target) == allows);
        require(allows_with((const char *) data, bytes, other, "a-bot", target) == allows);
        require(allows_with((const char *) data, bytes, "", "a-bot", "/robots.txt"));
        free(target);
        return 0;
}
