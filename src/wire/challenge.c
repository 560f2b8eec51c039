/*
 * wire/challenge.c - see challenge.h.
 */
#include "wire/challenge.h"

#include <errno.h>
#include <strings.h>

#include "wire/chars.h"

static void skip_spaces(struct ed_auth_text *text)
{
        while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
                text->at++;
}

/* Skip the elements of a list that are empty (RFC 9110, 5.6.1.2). */
static void skip_commas(struct ed_auth_text *text)
{
        while (text->at < text->end && (*text->at == ' ' || *text->at == '\t' || *text->at == ','))
                text->at++;
}

/* Returns true at the end of an element of the list. */
static bool is_at_end(const struct ed_auth_text *text)
{
        return text->at == text->end || *text->at == ',';
}

static size_t read_token(struct ed_auth_text *text)
{
        const char *start = text->at;

        while (text->at < text->end && ed_char_is(*text->at, ED_CHAR_TOKEN))
                text->at++;
        return (size_t) (text->at - start);
}

/* Read to the closing quote. Control characters are refused, also after a backslash. */
static bool read_quoted(struct ed_auth_text *text, struct ed_auth_param *param)
{
        param->value = ++text->at;
        while (text->at < text->end && *text->at != '"') {
                if (*text->at == '\\' && ++text->at == text->end)
                        return false;
                if (!ed_char_is(*text->at, ED_CHAR_VALUE))
                        return false;
                text->at++;
        }
        if (text->at == text->end)
                return false;
        param->value_bytes = (size_t) (text->at++ - param->value);
        return true;
}

/* Read "name = value". */
static bool read_param(struct ed_auth_text *text, struct ed_auth_param *ret_param)
{
        ret_param->name = text->at;
        ret_param->name_bytes = read_token(text);
        skip_spaces(text);
        if (ret_param->name_bytes == 0 || text->at == text->end || *text->at != '=')
                return false;
        text->at++;
        skip_spaces(text);
        if (text->at < text->end && *text->at == '"')
                return read_quoted(text, ret_param);
        ret_param->value = text->at;
        ret_param->value_bytes = read_token(text);
        return ret_param->value_bytes > 0;
}

/* Returns true if a parameter follows, and not another challenge. */
static bool is_param(struct ed_auth_text text)
{
        if (read_token(&text) == 0)
                return false;
        skip_spaces(&text);
        return text.at < text.end && *text.at == '=';
}

static bool is_token68_char(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c && strchr("-._~+/", c));
}

/* Skip a token68, which fills an element of the list. */
static bool skip_token68(struct ed_auth_text *text)
{
        struct ed_auth_text after = *text;

        while (after.at < after.end && is_token68_char(*after.at))
                after.at++;
        if (after.at == text->at)
                return false;
        while (after.at < after.end && *after.at == '=')
                after.at++;
        skip_spaces(&after);
        if (!is_at_end(&after))
                return false;
        *text = after;
        return true;
}

static bool is_same_name(const struct ed_auth_param *a, const struct ed_auth_param *b)
{
        return a->name_bytes == b->name_bytes && strncasecmp(a->name, b->name, a->name_bytes) == 0;
}

/* Read parameters until the next challenge. Each name may be there once. */
static bool read_params(struct ed_auth_text *text, struct ed_challenge *challenge)
{
        struct ed_auth_param params[ED_AUTH_PARAMS_MAX];
        size_t count = 0;

        challenge->params.at = text->at;
        do {
                if (count == ED_AUTH_PARAMS_MAX || !read_param(text, &params[count]))
                        return false;
                for (size_t i = 0; i < count; i++)
                        if (is_same_name(&params[i], &params[count]))
                                return false;
                count++;
                challenge->params.end = text->at;
                skip_spaces(text);
                if (!is_at_end(text))
                        return false;
                skip_commas(text);
        } while (is_param(*text));
        return true;
}

int ed_challenge_next(struct ed_auth_text *text, struct ed_challenge *ret_challenge)
{
        bool has_space;

        skip_commas(text);
        if (text->at == text->end)
                return 0;
        *ret_challenge = (struct ed_challenge){ .scheme = text->at };
        ret_challenge->scheme_bytes = read_token(text);
        ret_challenge->params = (struct ed_auth_text){ text->at, text->at };
        if (ret_challenge->scheme_bytes == 0)
                return -EBADMSG;
        has_space = text->at < text->end && *text->at == ' ';
        skip_spaces(text);
        if (is_at_end(text))
                return 1;
        if (!has_space)
                return -EBADMSG;
        if (skip_token68(text))
                return 1;
        return read_params(text, ret_challenge) ? 1 : -EBADMSG;
}

int ed_auth_param_next(struct ed_auth_text *text, struct ed_auth_param *ret_param)
{
        skip_commas(text);
        if (text->at == text->end)
                return 0;
        if (!read_param(text, ret_param))
                return -EBADMSG;
        skip_spaces(text);
        return is_at_end(text) ? 1 : -EBADMSG;
}

bool ed_auth_param_is(const struct ed_auth_param *param, const char *name)
{
        return ed_token_is(param->name, param->name_bytes, name, strlen(name));
}

bool ed_auth_param_copy(const struct ed_auth_param *param, char *out, size_t room)
{
        size_t used = 0;

        for (size_t i = 0; i < param->value_bytes; i++) {
                if (param->value[i] == '\\')
                        i++;
                if (used + 1 >= room)
                        return false;
                out[used++] = param->value[i];
        }
        if (used >= room)
                return false;
        out[used] = '\0';
        return true;
}
