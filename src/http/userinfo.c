/*
 * http/userinfo.c - see userinfo.h.
 */
#include "http/userinfo.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/base64.h"
#include "eddy/error.h"

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int ed_http_userinfo_decode(const struct ed_url *url, char *out, size_t room, size_t *ret_bytes)
{
        bool colon = false;
        size_t n = 0;

        for (size_t i = 0; i < url->userinfo_bytes; i++) {
                char c = url->userinfo[i];
                bool is_encoded = c == '%';

                colon |= c == ':';
                if (is_encoded) { /* the URL parser guarantees two hex digits here */
                        c = (char) (hex_digit(url->userinfo[i + 1]) << 4 |
                                    hex_digit(url->userinfo[i + 2]));
                        i += 2;
                }
                if ((unsigned char) c < 0x20 || c == 0x7F || (c == ':' && is_encoded && !colon) ||
                    n == room)
                        return EDDY_E_URL_CREDENTIALS;
                out[n++] = c;
        }
        if (!colon && n == room)
                return EDDY_E_URL_CREDENTIALS;
        if (!colon)
                out[n++] = ':';
        *ret_bytes = n;
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
