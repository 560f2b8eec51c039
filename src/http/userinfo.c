/*
 * http/userinfo.c - see userinfo.h.
 */
#include "http/userinfo.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/base64.h"
#include "eddy/error.h"

int ed_http_userinfo_decode(const struct ed_url *url, char *out, size_t room, size_t *ret_bytes)
{
        const char *text = url->userinfo, *colon = memchr(text, ':', url->userinfo_bytes);
        size_t user_bytes = colon ? (size_t) (colon - text) : url->userinfo_bytes;
        int64_t user = ed_url_decode(text, user_bytes, out, room), password = 0;

        if (user < 0)
                return (int) user;
        if (memchr(out, ':', (size_t) user) || (size_t) user == room)
                return EDDY_E_URL_CREDENTIALS;
        out[user++] = ':';
        if (colon)
                password = ed_url_decode(colon + 1, url->userinfo_bytes - user_bytes - 1,
                                         out + user, room - (size_t) user);
        if (password < 0)
                return (int) password;
        *ret_bytes = (size_t) (user + password);
        return 0;
}

int ed_http_userinfo_new(const struct ed_url *url, char **ret_plain, size_t *ret_bytes)
{
        size_t room = url->userinfo_bytes + 1;
        char *plain;
        int err;

        if (url->userinfo_bytes > ED_HTTP_USERINFO_BYTES_MAX)
                return EDDY_E_URL_CREDENTIALS;
        plain = ed_alloc(room);
        if (!plain)
                return -ENOMEM;
        err = ed_http_userinfo_decode(url, plain, room, ret_bytes);
        if (err < 0)
                ed_http_userinfo_free(plain, room);
        else
                *ret_plain = plain;
        return err;
}

void ed_http_userinfo_free(char *plain, size_t bytes)
{
        explicit_bzero(plain, bytes);
        ed_free(plain);
}

size_t ed_http_basic_write(const char *plain, size_t bytes, char *out)
{
        memcpy(out, "Basic ", ED_HTTP_BASIC_BYTES);
        return ED_HTTP_BASIC_BYTES + eddy_base64_encode(plain, bytes, out + ED_HTTP_BASIC_BYTES);
}
