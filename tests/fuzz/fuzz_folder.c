/*
 * fuzz_folder.c - the texts of a request for a file: the first line is Range, the second a list of entity
 * tags, the third Accept-Encoding, the rest a path.
 *
 * Ranges are in the content, and have together at most its bytes. A decoded path leads nowhere but into
 * the folder: it has no part that begins with a dot, is empty or has a control character, and the path that
 * quotes the name again is decoded to the same name.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/url.h"
#include "wire/accept_coding.h"
#include "wire/byte_ranges.h"
#include "wire/entity_tag.h"
#include "wire/folder_path.h"
#include "wire/media_type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

static void check_ranges(const char *value)
{
        static const int64_t lengths[] = { 0, 1, 10, 100000, INT64_MAX };

        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
                struct ed_byte_range ranges[ED_BYTE_RANGES_MAX];
                int count = ed_byte_ranges_read(value, lengths[i], ranges);
                int64_t left = lengths[i];

                require(count >= -1 && count <= ED_BYTE_RANGES_MAX);
                for (int j = 0; j < count; j++) {
                        require(ranges[j].first >= 0 && ranges[j].first <= ranges[j].last);
                        require(ranges[j].last < lengths[i]);
                        left -= ranges[j].last - ranges[j].first + 1;
                        require(left >= 0);
                }
        }
}

static void check_tags(const char *list)
{
        bool is_strong = ed_entity_tags_have(list, "\"a\"", true);

        require(!is_strong || ed_entity_tags_have(list, "\"a\"", false));
        if (ed_entity_tag_is_valid(list))
                require(ed_entity_tags_have(list, list, false));
}

static void check_coding(const char *list)
{
        unsigned set = (1U << ED_ACCEPT_IDENTITY) - 1;
        struct ed_accept_coding accept;
        enum ed_accept_coding_id coding;
        int before = 1000;

        ed_accept_coding_init(&accept);
        ed_accept_coding_add(&accept, list);
        while ((coding = ed_accept_coding_take(&accept, &set)) != ED_ACCEPT_IDENTITY) {
                int weight = ed_accept_coding_weight(&accept, coding);

                require(weight > 0 && weight <= before);
                before = weight;
        }
}

static void check_name(const char *name, bool is_folder)
{
        require(strlen(name) <= ED_FOLDER_PATH_BYTES_MAX && name[0] != '/');
        require(name[0] || is_folder);
        for (const char *part = name; *part;) {
                size_t n = strcspn(part, "/");

                require(n > 0 && n <= ED_FOLDER_PATH_PART_MAX && part[0] != '.');
                for (size_t i = 0; i < n; i++)
                        require((unsigned char) part[i] >= ' ' && part[i] != 0x7f);
                part += n;
                require(*part != '/' || part[1]);
                part += *part == '/';
        }
        require(ed_media_type_of(name)[0]);
}

static void check_path(const char *path)
{
        size_t room = strlen(path) + 1;
        char *name = malloc(room), *quoted = malloc(3 * room + 1), *again = malloc(3 * room + 1);
        bool is_folder = false, is_folder_again = false;
        int64_t n;
        int status;

        require(name && quoted && again);
        status = ed_folder_path_decode(path, ED_FOLDER_PATH_QUOTED, name, &is_folder);
        require(status == 0 || status == 400 || status == 404);
        if (status == 0) {
                check_name(name, is_folder);
                n = eddy_url_quote(name, strlen(name), EDDY_URL_SLASH, quoted, 3 * room);
                require(n >= 0);
                if (is_folder && name[0])
                        memcpy(quoted + n, "/", 2);
                require(ed_folder_path_decode(quoted, ED_FOLDER_PATH_QUOTED, again,
                                              &is_folder_again) == 0);
                require(strcmp(name, again) == 0 && is_folder == is_folder_again);
        }
        free(name);
        free(quoted);
        free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        static void (*const checks[])(const char *) = { check_ranges, check_tags, check_coding };
        char *text = malloc(bytes + 1), *line = text;

        require(text);
        if (bytes > 0)
                memcpy(text, data, bytes);
        text[bytes] = '\0';
        for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
                char *end = strchr(line, '\n');

                if (!end)
                        break;
                *end = '\0';
                checks[i](line);
                line = end + 1;
        }
        check_path(line);
        free(text);
        return 0;
}
