/*
 * http/userinfo.c - see userinfo.h.
 */
#include "http/userinfo.h"

#include <string.h>

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

size_t ed_http_basic_write(const char *plain, size_t bytes, char *out)
{
        memcpy(out, "Basic ", ED_HTTP_BASIC_BYTES);
        return ED_HTTP_BASIC_BYTES + eddy_base64_encode(plain, bytes, out + ED_HTTP_BASIC_BYTES);
}
