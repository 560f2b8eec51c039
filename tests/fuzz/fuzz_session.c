/*
 * fuzz_session.c - any bytes as the cookie of a session, as they are and signed, and as changes of its values.
 *
 * A cookie that was not signed is refused. A signed one is either refused or has whole names and values,
 * and is the same text when it is signed again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/session_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

/* Sign any bytes of a head and values, and read them back. */
static void check_signed(const struct ed_session_keys *keys, const uint8_t *data, size_t bytes)
{
        unsigned char made[ED_SESSION_ROOM], read[ED_SESSION_ROOM];
        struct ed_session_text text = { .data = made, .bytes = bytes }, got = { .data = read };
        char cookie[ED_SESSION_TEXT_MAX + 1];
        int signer;

        memcpy(made, data, bytes);
        require(ed_session_text_sign(&text, keys, cookie) == 0);
        signer = ed_session_text_verify(cookie, strlen(cookie), keys, &got);
        require(signer == -1 || signer == 0);
        if (signer < 0)
                return;
        require(got.bytes == bytes && memcmp(read, data, bytes) == 0);
        require(got.bytes == ED_SESSION_HEAD_BYTES || read[got.bytes - 1] == '\0');
        (void) ed_session_text_get(&got, "a");
}

/* Names and values in turn, each ended by a NUL; a value "-" removes. */
static void check_changes(const struct ed_session_keys *keys, const char *at, const char *end)
{
        unsigned char made[ED_SESSION_ROOM], read[ED_SESSION_ROOM];
        struct ed_session_text text = { .data = made }, got = { .data = read };
        static const struct eddy_uuid id;
        char cookie[ED_SESSION_TEXT_MAX + 1];

        ed_session_text_begin(&text, &id, 1, 2);
        while (at < end) {
                const char *name = at, *value = name + strlen(name) + 1;
                size_t before = text.bytes;
                int changed;

                if (value >= end)
                        break;
                at = value + strlen(value) + 1;
                changed = ed_session_text_set(&text, name, strcmp(value, "-") == 0 ? NULL : value);
                require(text.bytes <= ED_SESSION_BYTES_MAX &&
                        (changed >= 0 || text.bytes == before));
                if (changed < 0)
                        continue;
                if (strcmp(value, "-") == 0)
                        require(!ed_session_text_get(&text, name));
                else
                        require(strcmp(ed_session_text_get(&text, name), value) == 0);
        }
        require(ed_session_text_sign(&text, keys, cookie) == 0);
        require(ed_session_text_verify(cookie, strlen(cookie), keys, &got) == 0);
        require(got.bytes == text.bytes && memcmp(read, made, got.bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        static const char key[] = "0123456789abcdef0123456789abcdef";
        struct ed_session_keys keys = { .count = 0 };
        unsigned char read[ED_SESSION_ROOM];
        struct ed_session_text text = { .data = read };
        char *copy;

        require(ed_session_keys_add(&keys, "session", key, 32) == 0);
        require(ed_session_text_verify((const char *) data, bytes, &keys, &text) == -1);
        if (bytes >= ED_SESSION_HEAD_BYTES && bytes <= ED_SESSION_BYTES_MAX)
                check_signed(&keys, data, bytes);
        copy = malloc(bytes + 1);
        require(copy);
        memcpy(copy, data, bytes);
        copy[bytes] = '\0';
        check_changes(&keys, copy, copy + bytes + 1);
        free(copy);
        return 0;
}
