/*
 * common/save_name.c - see save_name.h.
 */
#include "common/save_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "eddy/json.h"

enum { TAG_BYTES = 1 + ED_SAVE_TAG_DIGITS };

/* ---- endings --------------------------------------------------------------------------------- */

/* Endings of types. The first row of a type gives its ending; others are accepted too. */
static const struct {
        const char *type, *ending;
} endings[] = {
        { "audio/mpeg", ".mp3" },
        { "audio/mp3", ".mp3" },
        { "audio/wav", ".wav" },
        { "audio/x-wav", ".wav" },
        { "audio/wave", ".wav" },
        { "audio/ogg", ".ogg" },
        { "audio/opus", ".opus" },
        { "audio/aac", ".aac" },
        { "audio/flac", ".flac" },
        { "audio/mp4", ".m4a" },
        { "audio/pcm", ".pcm" },
        { "audio/webm", ".webm" },
        { "image/png", ".png" },
        { "image/jpeg", ".jpg" },
        { "image/jpeg", ".jpeg" },
        { "image/webp", ".webp" },
        { "image/gif", ".gif" },
        { "image/svg+xml", ".svg" },
        { "image/tiff", ".tif" },
        { "image/tiff", ".tiff" },
        { "image/avif", ".avif" },
        { "video/mp4", ".mp4" },
        { "video/webm", ".webm" },
        { "application/json", ".json" },
        { "application/pdf", ".pdf" },
        { "application/zip", ".zip" },
        { "application/gzip", ".gz" },
        { "application/x-gzip", ".gz" },
        { "application/x-tar", ".tar" },
        { "application/zstd", ".zst" },
        { "application/xml", ".xml" },
        { "application/javascript", ".js" },
        { "application/x-subrip", ".srt" },
        { "text/plain", ".txt" },
        { "text/html", ".html" },
        { "text/html", ".htm" },
        { "text/css", ".css" },
        { "text/csv", ".csv" },
        { "text/xml", ".xml" },
        { "text/javascript", ".js" },
        { "text/markdown", ".md" },
        { "text/vtt", ".vtt" },
};

enum { ENDINGS = sizeof(endings) / sizeof(endings[0]) };

static bool is_type(const char *type, const char *name)
{
        size_t bytes = strcspn(type, "; \t");

        return strlen(name) == bytes && strncasecmp(type, name, bytes) == 0;
}

const char *ed_save_ending(const char *type)
{
        for (int i = 0; type && i < ENDINGS; i++)
                if (is_type(type, endings[i].type))
                        return endings[i].ending;
        return "";
}

static bool ends_with(const char *text, size_t bytes, const char *ending)
{
        size_t ending_bytes = strlen(ending);

        return bytes > ending_bytes &&
               strncasecmp(text + bytes - ending_bytes, ending, ending_bytes) == 0;
}

/* Returns how many bytes at the end of the text are an ending of the type. */
static size_t own_ending(const char *text, size_t bytes, const char *type, const char *ending)
{
        if (ends_with(text, bytes, ending))
                return strlen(ending);
        for (int i = 0; type && i < ENDINGS; i++)
                if (is_type(type, endings[i].type) && ends_with(text, bytes, endings[i].ending))
                        return strlen(endings[i].ending);
        return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Returns the bytes of the character at 'at', or 0 if it is not UTF-8. */
static size_t character_bytes(const char *text, size_t bytes, size_t at)
{
        unsigned char first = (unsigned char) text[at];
        size_t n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

        return n <= bytes - at && eddy_json_is_utf8(text + at, n) ? n : 0;
}

static bool is_plain(unsigned char byte)
{
        return byte >= 0x20 && byte != 0x7f && !strchr("/<>:\"\\|?*", byte);
}

/* Returns true for names that Windows reserves, up to the first dot. */
static bool is_reserved(const char *name, size_t bytes)
{
        static const char *const devices[] = { "con", "prn", "aux", "nul" };
        const char *dot = memchr(name, '.', bytes);
        size_t stem = dot ? (size_t) (dot - name) : bytes;

        for (int i = 0; i < 4; i++)
                if (stem == 3 && strncasecmp(name, devices[i], 3) == 0)
                        return true;
        return stem == 4 && name[3] >= '1' && name[3] <= '9' &&
               (strncasecmp(name, "com", 3) == 0 || strncasecmp(name, "lpt", 3) == 0);
}

/* Copy whole characters, as far as there is room. Returns the bytes. */
static size_t text_copy(const char *text, size_t bytes, char *name, size_t room)
{
        size_t n = 0;

        for (size_t at = 0, one; at < bytes; at += one ? one : 1) {
                one = character_bytes(text, bytes, at);
                if (n + (one ? one : 1) > room)
                        break;
                if (one > 1 || (one == 1 && is_plain((unsigned char) text[at]))) {
                        memcpy(name + n, text + at, one);
                        n += one;
                } else {
                        name[n++] = '_';
                }
        }
        return n;
}

/* Copy the text without its ending, so that it is the beginning of a name. Returns the bytes. */
static size_t stem_make(const char *text, size_t bytes, char *name, size_t room)
{
        size_t front, n;

        front = is_reserved(text, bytes);
        name[0] = '_';
        n = front + text_copy(text, bytes, name + front, room - front);
        if (n == 0)
                n = 1;
        if (name[0] == '.' || name[0] == '-')
                name[0] = '_';
        if (name[n - 1] == '.' || name[n - 1] == ' ')
                name[n - 1] = '_';
        return n;
}

/* Returns how many bytes at the end of a URL are an ending: a dot and some letters or digits. */
static size_t url_ending(const char *text, size_t bytes)
{
        enum { ENDING_MAX = 10 };
        size_t n = 0;

        while (n < bytes && n < ENDING_MAX && isalnum((unsigned char) text[bytes - 1 - n]))
                n++;
        return n > 0 && n + 1 < bytes && text[bytes - 1 - n] == '.' ? n + 1 : 0;
}

/* Find the ending of a name. Returns how many bytes of it are the end of the text. */
static size_t ending_find(enum ed_save_origin origin, const char *text, size_t bytes,
                          const char *type, const char **ret_ending)
{
        const char *ending = ed_save_ending(type);

        if (origin == ED_SAVE_URL) {
                *ret_ending = memchr(text, '.', bytes) ? "" : ending;
                return url_ending(text, bytes);
        }
        *ret_ending = *ending ? ending : ".bin";
        return own_ending(text, bytes, type, *ret_ending);
}

void ed_save_name(enum ed_save_origin origin, const char *text, size_t bytes, const char *type,
                  uint64_t tag, bool is_tagged, char name[ED_SAVE_NAME_BYTES])
{
        const char *ending;
        size_t own = ending_find(origin, text, bytes, type, &ending);
        size_t stem_bytes = bytes - own, n, room;
        char end[16];

        snprintf(end, sizeof(end), "%.*s", own ? (int) own : (int) strlen(ending),
                 own ? text + stem_bytes : ending);
        room = ED_SAVE_NAME_BYTES - 1 - strlen(end);
        if (!is_tagged) {
                n = stem_make(text, stem_bytes, name, room);
                if (n == stem_bytes && memcmp(name, text, n) == 0) {
                        memcpy(name + n, end, strlen(end) + 1);
                        return;
                }
        }
        n = stem_make(text, stem_bytes, name, room - TAG_BYTES);
        snprintf(name + n, ED_SAVE_NAME_BYTES - n, "-%016llx%s", (unsigned long long) tag, end);
}

void ed_save_name_set_tag(char name[ED_SAVE_NAME_BYTES], uint64_t tag)
{
        char *at = strrchr(name, '-'); /* an ending has no hyphen */
        char digits[ED_SAVE_TAG_DIGITS + 1];

        snprintf(digits, sizeof(digits), "%016llx", (unsigned long long) tag);
        memcpy(at + 1, digits, ED_SAVE_TAG_DIGITS);
}
