/*
 * test_hash.c - hashes as text: those of the standards, in pieces, and the forms of their ends.
 */
#include "tls/hash.h"

#include <errno.h>
#include <string.h>

#include "test.h"
#include "tls/hmac.h"

/* The hashes of "abc" in RFC 1321, A.5 and in NIST's examples for FIPS 180-4. */
static const char *const of_abc[] = {
        [ED_HASH_MD5] = "900150983cd24fb0d6963f7d28e17f72",
        [ED_HASH_SHA1] = "a9993e364706816aba3e25717850c26c9cd0d89d",
        [ED_HASH_SHA256] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        [ED_HASH_SHA512_256] = "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
};

TEST(a_hash_is_the_one_of_its_standard_however_the_bytes_are_cut)
{
        for (int kind = ED_HASH_MD5; kind <= ED_HASH_SHA512_256; kind++)
                for (size_t cut = 0; cut <= 3; cut++) {
                        struct ed_hashing hashing;
                        char hex[ED_HASH_HEX_ROOM];

                        CHECK_EQ(ed_hashing_begin(&hashing, (enum ed_hash_kind) kind), 0);
                        ed_hashing_add(&hashing, "abc", cut);
                        ed_hashing_add(&hashing, &"abc"[cut], 3 - cut);
                        CHECK_EQ(ed_hashing_end(&hashing, hex), 0);
                        CHECK_STR(hex, of_abc[kind]);
                }
}

TEST(parts_of_a_hash_have_a_colon_between_them)
{
        const struct ed_hash_part whole = { "a:bc:", 5 },
                                  parts[] = { { "a", 1 }, { "bc", 2 }, { "", 0 } };
        char hex[ED_HASH_HEX_ROOM], hex_of_parts[ED_HASH_HEX_ROOM];

        CHECK_EQ(ed_hash_hex(ED_HASH_SHA256, &whole, 1, hex), 0);
        CHECK_EQ(ed_hash_hex(ED_HASH_SHA256, parts, 3, hex_of_parts), 0);
        CHECK_STR(hex_of_parts, hex);
}

TEST(a_hash_that_has_ended_is_empty_and_an_error)
{
        struct ed_hashing hashing;
        char hex[ED_HASH_HEX_ROOM] = "before";

        CHECK_EQ(ed_hashing_begin(&hashing, ED_HASH_SHA256), 0);
        CHECK_EQ(ed_hashing_end(&hashing, NULL), 0);
        ed_hashing_add(&hashing, "abc", 3);
        CHECK_EQ(ed_hashing_end(&hashing, hex), -EOPNOTSUPP);
        CHECK_STR(hex, "");
}

/* The second case of RFC 4231, 4.3. */
TEST(a_code_of_hmac_is_the_one_of_its_standard)
{
        static const unsigned char right[ED_HMAC_BYTES] = {
                0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24,
                0x26, 0x08, 0x95, 0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27,
                0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43
        };
        static const char data[] = "what do ya want for nothing?";
        unsigned char code[ED_HMAC_BYTES];

        CHECK_EQ(ed_hmac_sha256("Jefe", 4, data, strlen(data), code), 0);
        CHECK(ed_hmac_equals(code, right));
        for (size_t i = 0; i < ED_HMAC_BYTES; i++) {
                code[i] ^= 1;
                CHECK(!ed_hmac_equals(code, right));
                code[i] ^= 1;
        }
}
