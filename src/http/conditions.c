/*
 * http/conditions.c - see conditions.h.
 */
#include "http/conditions.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "eddy/http_date.h"
#include "eddy/time.h"
#include "wire/entity_tag.h"

/* The fields of a request. A field that may be sent only once, and was repeated, is "". */
struct fields {
        bool has_match, matches;           /* If-Match; one of its lines has the tag */
        bool has_none_match, none_matches; /* If-None-Match */
        const char *modified_since, *unmodified_since, *if_range, *range;
};

static void note_once(const char **field, const char *value)
{
        *field = *field ? "" : value;
}

static void note(struct fields *fields, const struct eddy_http_header *header, const char *tag)
{
        const char *name = header->name;

        if (strcasecmp(name, "Range") == 0) {
                note_once(&fields->range, header->value);
        } else if (strncasecmp(name, "If-", 3) != 0) {
                return;
        } else if (strcasecmp(name, "If-None-Match") == 0) {
                fields->has_none_match = true;
                fields->none_matches |= ed_entity_tags_have(header->value, tag, false);
        } else if (strcasecmp(name, "If-Match") == 0) {
                fields->has_match = true;
                fields->matches |= ed_entity_tags_have(header->value, tag, true);
        } else if (strcasecmp(name, "If-Modified-Since") == 0) {
                note_once(&fields->modified_since, header->value);
        } else if (strcasecmp(name, "If-Unmodified-Since") == 0) {
                note_once(&fields->unmodified_since, header->value);
        } else if (strcasecmp(name, "If-Range") == 0) {
                note_once(&fields->if_range, header->value);
        }
}

/* Returns true for a valid date, if the content has one to compare. */
static bool date_read(const char *text, const struct ed_http_validators *validators,
                      int64_t *ret_seconds)
{
        return text && validators->modified_s != ED_HTTP_NO_DATE &&
               eddy_http_date_parse(text, strlen(text), eddy_time_of_day() / EDDY_SEC(1),
                                    ret_seconds) == 0;
}

/*
 * If-Range compares strongly, and a date exactly (RFC 9110, 13.1.5). A date that the content has in other
 * codings too is weak (8.8.1): a part would continue the bytes of another coding.
 */
static bool is_same(const char *if_range, const struct ed_http_validators *validators)
{
        int64_t seconds;

        if (ed_entity_tag_is_valid(if_range))
                return if_range[0] == '"' && strcmp(if_range, validators->tag) == 0;
        return !validators->has_codings && date_read(if_range, validators, &seconds) &&
               seconds == validators->modified_s;
}

int ed_http_conditions_judge(const eddy_http_exchange *exchange,
                             const struct ed_http_validators *validators, const char **ret_range)
{
        struct fields fields = { 0 };
        struct eddy_http_header header;
        int64_t since;

        for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++)
                note(&fields, &header, validators->tag);
        *ret_range = NULL;
        if (fields.has_match ? !fields.matches
                             : date_read(fields.unmodified_since, validators, &since) &&
                                       validators->modified_s > since)
                return 412;
        if (fields.has_none_match ? fields.none_matches
                                  : date_read(fields.modified_since, validators, &since) &&
                                            validators->modified_s <= since)
                return 304;
        if (fields.range && strcmp(eddy_http_exchange_method(exchange), "GET") == 0 &&
            (!fields.if_range || is_same(fields.if_range, validators)))
                *ret_range = fields.range;
        return 0;
}
