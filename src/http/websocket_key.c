/*
 * http/websocket_key.c - the texts of a handshake; see websocket.h.
 */
#include <string.h>

#include "base/hex.h"
#include "eddy/base64.h"
#include "http/websocket.h"
#include "tls/hash.h"

enum { SHA1_BYTES = 20 };

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

int ed_websocket_accept_of(const char *key, char out[ED_WEBSOCKET_ACCEPT_CHARS + 1])
{
        struct ed_hashing hashing;
        char hex[ED_HASH_HEX_ROOM];
        unsigned char hash[SHA1_BYTES];
        int err = ed_hashing_begin(&hashing, ED_HASH_SHA1);

        if (err < 0)
                return err;
        ed_hashing_add(&hashing, key, strlen(key));
        ed_hashing_add(&hashing, GUID, strlen(GUID));
        err = ed_hashing_end(&hashing, hex);
        if (err < 0)
                return err;
        for (size_t i = 0; i < SHA1_BYTES; i++)
                hash[i] = (unsigned char) (ed_hex_digit(hex[2 * i]) << 4 |
                                           ed_hex_digit(hex[2 * i + 1]));
        out[eddy_base64_encode(hash, SHA1_BYTES, out)] = '\0';
        return 0;
}

bool ed_websocket_list_has(const char *list, const char *token)
{
        size_t bytes = strlen(token);

        while (*list) {
                size_t n;

                list += strspn(list, " \t,");
                n = strcspn(list, " \t,");
                if (n == bytes && memcmp(list, token, n) == 0)
                        return true;
                list += n;
        }
        return false;
}
