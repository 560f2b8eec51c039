/*
 * multipart_lines.c - the multipart codec for a script: each line is a body to read, or parts to
 * write, in hexadecimal; the answer is a line.
 *
 *     r BODY                           ok PART;PART;...   or   no RULE
 *     w PART;PART;...                  BODY
 *
 * A part is NAME,FILENAME,TYPE,DATA; "-" is a text that the part has not. The boundary is "b".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "wire/multipart.h"

enum { ROOM = 1 << 20, PARTS_MAX = 1000 };

static char line[2 * ROOM + 16], body[ROOM], texts[ROOM];

static void require(bool is_so, const char *what)
{
        if (is_so)
                return;
        fprintf(stderr, "multipart_lines: %s\n", what);
        exit(2);
}

static int digit_of(char c)
{
        return c >= 'a' ? c - 'a' + 10 : c - '0';
}

/* Decode up to 'end'. Returns the number of bytes. */
static size_t decode(const char *hex, const char *end, char *out)
{
        size_t n = 0;

        for (; hex + 1 < end; hex += 2)
                out[n++] = (char) (digit_of(hex[0]) << 4 | digit_of(hex[1]));
        return n;
}

static void print_hex(const char *data, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++)
                printf("%02x", (unsigned char) data[i]);
}

static void print_text(const char *text)
{
        if (text)
                print_hex(text, strlen(text));
        else
                printf("-");
        printf(",");
}

static void read_body(const char *hex, const char *end)
{
        static const struct ed_multipart_limits limits = { PARTS_MAX, 8192, ROOM, ROOM, ROOM };
        size_t bytes = decode(hex, end, body), at = 0, data_bytes = 0;
        enum ed_multipart_event event;
        struct ed_multipart multipart;
        struct ed_multipart_part part;
        const char *data = NULL;
        int64_t n = 0;

        ed_multipart_init(&multipart, "b", &limits);
        printf("ok ");
        for (; at < bytes && n >= 0; at += n > 0 ? (size_t) n : 0) {
                n = ed_multipart_read(&multipart, body + at, bytes - at, &event, &data,
                                      &data_bytes);
                if (n >= 0 && event == ED_MULTIPART_PART) {
                        ed_multipart_part(&multipart, &part);
                        print_text(part.name);
                        print_text(part.filename);
                        print_text(part.type);
                } else if (n >= 0 && event == ED_MULTIPART_DATA) {
                        print_hex(data, data_bytes);
                } else if (n >= 0 && event == ED_MULTIPART_PART_END) {
                        printf(";");
                }
        }
        if (n >= 0)
                n = ed_multipart_finish(&multipart);
        if (n < 0)
                printf(" no %s", multipart.rule ? multipart.rule : eddy_error_name((int) n));
        printf("\n");
        ed_multipart_fini(&multipart);
}

/* Take the next text of a part, up to 'mark'. Returns NULL for "-". */
static const char *take(char **at, char mark, char **room, size_t *ret_bytes)
{
        char *end = strchr(*at, mark), *text = *room;

        require(end != NULL, "a part has four texts");
        *ret_bytes = 0;
        if (**at == '-') {
                text = NULL;
        } else {
                *ret_bytes = decode(*at, end, text);
                text[*ret_bytes] = '\0';
                *room += *ret_bytes + 1;
        }
        *at = end + 1;
        return text;
}

static void write_body(char *at)
{
        bool is_first = true;
        struct ed_buf out;

        ed_buf_init(&out, ROOM);
        while (*at) {
                struct ed_multipart_head head;
                char *room = texts;
                const char *data;
                size_t bytes;

                head.name = take(&at, ',', &room, &bytes);
                head.filename = take(&at, ',', &room, &bytes);
                head.type = take(&at, ',', &room, &bytes);
                data = take(&at, ';', &room, &bytes);
                require(!ed_multipart_check(&head), "the part cannot be sent");
                require(ed_multipart_write(&out, "b", &head, is_first) == 0 &&
                                ed_buf_append(&out, "\r\n", 2) == 0 &&
                                ed_buf_append(&out, data, bytes) == 0,
                        "no memory");
                is_first = false;
        }
        require(ed_multipart_write_end(&out, "b", is_first) == 0, "no memory");
        print_hex(ed_buf_data(&out), ed_buf_bytes(&out));
        printf("\n");
        ed_buf_fini(&out);
}

int main(void)
{
        while (fgets(line, sizeof(line), stdin)) {
                size_t bytes = strcspn(line, "\n");

                line[bytes] = '\0';
                require(bytes > 1, "a line is \"r\" or \"w\" and a text");
                if (line[0] == 'r')
                        read_body(line + 2, line + bytes);
                else
                        write_body(line + 2);
        }
        return 0;
}
