/*
 * batch/run/key_text.c - see key_text.h.
 */
#include "batch/run/key_text.h"

#include <errno.h>
#include <string.h>

#include "common/duration.h"
#include "eddy/alloc.h"
#include "eddy/base64.h"
#include "eddy/http_text.h"
#include "eddy/json.h"

static bool is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r';
}

/* Find the text of a line, without the white space around it. Returns what follows the line. */
static const char *line_find(const char *at, const char *end, struct ed_key_text *text)
{
        const char *feed = at < end ? memchr(at, '\n', (size_t) (end - at)) : NULL;
        const char *to = feed ? feed : end;

        while (at < to && is_blank(*at))
                at++;
        while (to > at && is_blank(to[-1]))
                to--;
        text->at = at;
        text->bytes = (size_t) (to - at);
        text->life_ns = -1;
        text->line++;
        return feed ? feed + 1 : end;
}

const char *ed_key_text_fault(const char *at, size_t bytes)
{
        if (bytes == 0)
                return "it is empty";
        if (bytes > ED_KEY_BYTES_MAX)
                return "it is longer than 8 KiB";
        return eddy_http_is_value(at, bytes) ? NULL : "it cannot be a header's value";
}

bool ed_key_text_next(const char **at, const char *end, struct ed_key_text *text)
{
        while (*at < end) {
                *at = line_find(*at, end, text);
                if (text->bytes > 0 && *text->at != '#')
                        return true;
        }
        return false;
}

/* ---- JSON Web Tokens ------------------------------------------------------------------------- */

/*
 * Decode base64url without padding (RFC 7515, 2) to 'out', which has room for the characters and 3
 * bytes more. Returns the number of bytes. Errors: -EINVAL
 */
static int64_t url_decode(const char *text, size_t bytes, char *out)
{
        for (size_t i = 0; i < bytes; i++) {
                if (text[i] == '+' || text[i] == '/' || text[i] == '=')
                        return -EINVAL;
                out[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
        }
        while (bytes % 4 != 0)
                out[bytes++] = '=';
        return eddy_base64_decode(out, bytes, out);
}

/* Returns the time until "exp" in a payload, which is decoded in 'room', or -1. */
static int64_t payload_life(const char *payload, size_t bytes, char *room, int64_t now_wall_ns)
{
        struct eddy_json_value claims, exp;
        int64_t n = url_decode(payload, bytes, room), now_s = now_wall_ns / 1000000000;
        double at_s, life_s;

        if (n < 0 || eddy_json_parse(room, (size_t) n, NULL, &claims, NULL) < 0 ||
            claims.kind != EDDY_JSON_OBJECT || eddy_json_get(&claims, "exp", &exp) < 0 ||
            exp.kind != EDDY_JSON_NUMBER || eddy_json_double(&exp, &at_s) < 0)
                return -1;
        life_s = at_s - (double) now_s;
        if (!(life_s > 0))
                return -1;
        if (life_s * 1e9 > (double) ED_DURATION_MAX_NS)
                return ED_DURATION_MAX_NS;
        return (int64_t) (life_s * 1e9) - now_wall_ns % 1000000000;
}

int64_t ed_key_text_jwt_life(const char *token, size_t bytes, int64_t now_wall_ns)
{
        const char *end = token + bytes, *payload, *signature;
        int64_t life_ns;
        char *room;

        payload = memchr(token, '.', bytes);
        if (!payload || bytes > ED_KEY_BYTES_MAX)
                return -1;
        payload++;
        signature = memchr(payload, '.', (size_t) (end - payload));
        if (!signature || memchr(signature + 1, '.', (size_t) (end - signature - 1)))
                return -1;
        bytes = (size_t) (signature - payload);
        room = eddy_malloc(bytes + 4);
        if (!room)
                return -1; /* the token lives until the server refuses it */
        life_ns = payload_life(payload, bytes, room, now_wall_ns);
        explicit_bzero(room, bytes + 4);
        eddy_free(room);
        return life_ns > 0 ? life_ns : -1;
}

/* ---- the output of a command ----------------------------------------------------------------- */

/* Returns why line 1 of an output is not a key, or NULL. */
static const char *token_fault(const struct ed_key_text *text)
{
        const char *fault = ed_key_text_fault(text->at, text->bytes);

        if (text->bytes == 0)
                return "line 1 of its output is empty";
        if (*text->at == '{')
                return "its output is JSON: let it print the token alone, for example by jq -r "
                       ".access_token";
        return fault ? "line 1 of its output cannot be a header's value" : NULL;
}

int ed_key_text_output(const char *output, size_t bytes, int64_t now_wall_ns,
                       struct ed_key_text *ret_text, const char **ret_why)
{
        const char *end = output + bytes, *rest;
        struct ed_key_text text = { 0 }, seconds = { 0 };

        if (bytes == 0) {
                *ret_why = "it printed nothing";
                return -EINVAL;
        }
        rest = line_find(output, end, &text);
        *ret_why = token_fault(&text);
        if (*ret_why)
                return -EINVAL;
        (void) line_find(rest, end, &seconds);
        if (seconds.bytes == 0) {
                text.life_ns = ed_key_text_jwt_life(text.at, text.bytes, now_wall_ns);
        } else {
                *ret_why = "line 2 of its output is not a number of seconds above 0";
                if (ed_duration_parse_seconds(seconds.at, seconds.at + seconds.bytes,
                                              &text.life_ns) < 0 ||
                    text.life_ns <= 0)
                        return -EINVAL;
        }
        *ret_text = text;
        return 0;
}
