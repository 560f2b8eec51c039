/*
 * test_base64.c - bytes become base64 with padding, and no byte is written
 * beyond the room that EDDY_BASE64_BYTES() asks for; only that form is decoded.
 */
#include "eddy/base64.h"

#include <ctype.h>
#include <errno.h>

#include "test.h"

/* Encode into memory of just the right size. */
static void check_text(const void *data, size_t bytes, const char *text)
{
        size_t room = EDDY_BASE64_BYTES(bytes);
        char *out = malloc(room ? room : 1);

        CHECK(out);
        CHECK_EQ(room, strlen(text));
        CHECK_EQ(eddy_base64_encode(data, bytes, out), room);
        CHECK_EQ(memcmp(out, text, room), 0);
        free(out);
}

TEST(examples_of_rfc_4648_section_10)
{
        check_text("", 0, "");
        check_text("f", 1, "Zg==");
        check_text("fo", 2, "Zm8=");
        check_text("foo", 3, "Zm9v");
        check_text("foob", 4, "Zm9vYg==");
        check_text("fooba", 5, "Zm9vYmE=");
        check_text("foobar", 6, "Zm9vYmFy");
}

TEST(every_bit_counts)
{
        check_text("\0\0\0", 3, "AAAA");
        check_text("\xff\xff\xff", 3, "////");
        check_text("\xff\xfe", 2, "//4=");
        check_text("\xfb", 1, "+w==");
        check_text("\x80\x40\x20\x10", 4, "gEAgEA==");
}

static int digit(char c)
{
        static const char digits[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

        return (int) (strchr(digits, c) - digits);
}

TEST(each_of_the_256_bytes_can_be_read_back_at_each_place)
{
        for (size_t place = 0; place < 3; place++) {
                for (int c = 0; c < 256; c++) {
                        unsigned char data[3] = { 0x5A, 0xA5, 0x3C };
                        char out[4];
                        uint32_t group;

                        data[place] = (unsigned char) c;
                        CHECK_EQ(eddy_base64_encode(data, 3, out), 4);
                        group = (uint32_t) (digit(out[0]) << 18 | digit(out[1]) << 12 |
                                            digit(out[2]) << 6 | digit(out[3]));
                        CHECK_EQ(group, (uint32_t) (data[0] << 16 | data[1] << 8 | data[2]));
                }
        }
}

TEST(base64_is_decoded_strictly)
{
        static const char *const texts[] = { "",         "Zg==",     "Zm8=",    "Zm9v",
                                             "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };
        static const char *const wrong[] = {
                "Z",    "Zg",   "Zg=",      "Zh==",     "Zm9=", "=",
                "====", "Z===", "Zg==Zg==", "Zm9v\nZg", "Zm-_", "Zg=a"
        };
        char out[16];

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                CHECK_EQ(eddy_base64_decode(texts[i], strlen(texts[i]), out), i);
                CHECK(memcmp(out, "foobar", i) == 0);
        }
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_EQ(eddy_base64_decode(wrong[i], strlen(wrong[i]), out), -EINVAL);
        CHECK_EQ(eddy_base64_decode("+/9\0", 4, out), -EINVAL);
        CHECK_EQ(eddy_base64_decode("+/+/", 4, out), 3);
        CHECK(memcmp(out, "\xfb\xff\xbf", 3) == 0);
}

/* All lengths, from and to memory of just the right size, and in place. */
TEST(bytes_that_were_encoded_are_decoded)
{
        unsigned char data[70];

        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (unsigned char) (i * 151 + 7);
        for (size_t bytes = 0; bytes <= sizeof(data); bytes++) {
                size_t chars = EDDY_BASE64_BYTES(bytes);
                char *text = malloc(chars + 1);
                unsigned char *out = malloc(EDDY_BASE64_DECODED_MAX(chars) + 1);

                CHECK(text && out);
                CHECK_EQ(eddy_base64_encode(data, bytes, text), chars);
                CHECK_EQ(eddy_base64_decode(text, chars, out), bytes);
                CHECK_EQ(memcmp(out, data, bytes), 0);
                CHECK_EQ(eddy_base64_decode(text, chars, text), bytes);
                CHECK_EQ(memcmp(text, data, bytes), 0);
                free(text);
                free(out);
        }
}

TEST(a_byte_that_is_not_a_digit_is_refused_at_each_place)
{
        for (int c = 0; c < 256; c++) {
                for (size_t place = 0; place < 4; place++) {
                        char text[5] = "AAAA";
                        char out[3];
                        bool is_digit = isalnum(c) || c == '+' || c == '/';

                        text[place] = (char) c;
                        if (c == '=' && place == 3)
                                is_digit = true; /* "AAA=" is padded */
                        CHECK_EQ(eddy_base64_decode(text, 4, out) < 0, !is_digit);
                }
        }
}
