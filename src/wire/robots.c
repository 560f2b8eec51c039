/*
 * wire/robots.c - the rules of a robots.txt (RFC 9309).
 */
#include "eddy/robots.h"

#include <string.h>
#include <strings.h>

#include "base/hex.h"
#include "eddy/url.h"
#include "wire/chars.h"

/* A line "key: value", without white space around the two, and without its comment. */
struct line {
        struct eddy_url_part key, value;
};

static struct eddy_url_part trimmed(const char *begin, const char *end)
{
        while (begin < end && (*begin == ' ' || *begin == '\t'))
                begin++;
        while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
                end--;
        return (struct eddy_url_part){ .text = begin, .bytes = (size_t) (end - begin) };
}

static const char *find_end(const char *at, const char *end, const char *stops)
{
        while (at < end && (*at == '\0' || !strchr(stops, *at)))
                at++;
        return at;
}

/* Take the next line from the text.  Returns false at its end. */
static bool next_line(const char **at, const char *end, struct line *ret_line)
{
        const char *line_end = find_end(*at, end, "\r\n");
        const char *words_end = find_end(*at, line_end, "#");
        const char *colon = find_end(*at, words_end, ":");

        if (*at == end)
                return false;
        ret_line->key = trimmed(*at, colon);
        ret_line->value = trimmed(colon < words_end ? colon + 1 : colon, words_end);
        *at = line_end < end ? line_end + 1 : end;
        return true;
}

static bool key_is(const struct line *line, const char *lower)
{
        return ed_token_is(line->key.text, line->key.bytes, lower, strlen(lower));
}

static bool is_name(char c)
{
        return c == '-' || c == '_' || (c >= '0' && c <= '9') ||
               ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* "My-Crawler/1.0" names "my-crawler". */
static bool names_agent(struct eddy_url_part value, const char *agent)
{
        size_t bytes = strlen(agent);

        return bytes > 0 && value.bytes >= bytes && strncasecmp(value.text, agent, bytes) == 0 &&
               (value.bytes == bytes || !is_name(value.text[bytes]));
}

/*
 * Take the next byte, decoded if it is escaped and means the same without the escape. The caller
 * looks for '*' and '$' first, which have a meaning in rules only.
 */
static unsigned next_byte(const char **at, const char *end)
{
        int high = -1, low = -1;
        char c = *(*at)++;

        if (c == '%' && end - *at >= 2) {
                high = ed_hex_digit((*at)[0]);
                low = ed_hex_digit((*at)[1]);
        }
        if (high < 0 || low < 0)
                return (unsigned char) c;
        *at += 2;
        c = (char) (high << 4 | low);
        return (unsigned char) c | (c && strchr("%/?#:[]@!&'()+,;=", c) ? 0x100 : 0);
}

/* Whether a rule matches the beginning of the target, or all of it if the rule ends in '$'. */
static bool matches(struct eddy_url_part rule, const char *target, const char *target_end)
{
        const char *at = rule.text, *end = rule.text + rule.bytes;
        const char *after_star = NULL, *retry = NULL;

        for (;;) {
                const char *rule_next = at, *target_next = target;
                bool is_last = end - at == 1 && *at == '$'; /* the end of the target */

                if (at < end && *at == '*') {
                        after_star = ++at;
                        retry = target;
                        continue;
                }
                if (at == end || (is_last && target == target_end))
                        return true;
                if (target < target_end && !is_last &&
                    next_byte(&rule_next, end) == next_byte(&target_next, target_end)) {
                        at = rule_next;
                        target = target_next;
                        continue;
                }
                /* The last '*' takes a byte more. */
                if (!after_star || retry == target_end)
                        return false;
                (void) next_byte(&retry, target_end);
                at = after_star;
                target = retry;
        }
}

bool eddy_robots_allow(const char *text, size_t bytes, const char *agent, const char *target)
{
        /* In the groups for "*", and in those of the agent: twice the length of the longest rule,
         * and 1 more if the rule allows. */
        size_t best[2] = { 1, 1 };
        bool is_in[2] = { false, false }, is_named = false, is_after_rule = true;
        const char *at = text, *end = bytes ? text + bytes : text,
                   *target_end = target + strlen(target);
        struct line line;

        if (strcmp(target, "/robots.txt") == 0)
                return true;
        if (bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
                at += 3; /* a byte order mark */
        while (next_line(&at, end, &line)) {
                bool is_allow = key_is(&line, "allow");
                size_t weight = 2 * line.value.bytes + is_allow;

                if (key_is(&line, "user-agent")) {
                        if (is_after_rule)
                                is_in[0] = is_in[1] = false;
                        is_after_rule = false;
                        is_in[0] |= line.value.bytes > 0 && line.value.text[0] == '*';
                        is_in[1] |= names_agent(line.value, agent);
                        is_named |= is_in[1];
                } else if (is_allow || key_is(&line, "disallow")) {
                        is_after_rule = true;
                        for (int i = 0; i < 2; i++)
                                if (is_in[i] && weight > best[i] &&
                                    matches(line.value, target, target_end))
                                        best[i] = weight;
                }
        }
        return best[is_named] & 1;
}
