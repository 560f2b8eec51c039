/*
 * fields_judge_tables.h - tables that together have each kind, shape and option of eddy/fields.h.
 */
#ifndef FIELDS_JUDGE_TABLES_H
#define FIELDS_JUDGE_TABLES_H

#include <string.h>

#include "eddy/fields.h"

/* ---- account: scalars, null apart from missing, read-only and write-only; strict --------------- */

struct account {
        uint64_t id;
        char name[16];
        char *email, *password, *nickname, *parent, *note;
        uint8_t age;
        int16_t score;
        double ratio;
        float weight;
        bool verified, has_age, is_nickname_null, is_parent_null;
        int color;
};

static const char *const colors[] = { "red", "green", "deep blue", NULL };
static const struct eddy_field account_list[] = {
        EDDY_FIELD(struct account, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_READ_ONLY,
                   EDDY_FIELD_MIN(1)),
        EDDY_FIELD(struct account, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 15)),
        EDDY_FIELD(struct account, email, EDDY_FIELD_AS("e-mail"), EDDY_FIELD_REQUIRED,
                   EDDY_FIELD_FORMAT("email")),
        EDDY_FIELD(struct account, password, EDDY_FIELD_LENGTH(8, 20), EDDY_FIELD_WRITE_ONLY),
        EDDY_FIELD(struct account, age, EDDY_FIELD_FLAG(struct account, has_age),
                   EDDY_FIELD_MAX(150), EDDY_FIELD_DESCRIPTION("in years"),
                   EDDY_FIELD_EXAMPLE("42")),
        EDDY_FIELD(struct account, nickname,
                   EDDY_FIELD_NULL_FLAG(struct account, is_nickname_null)),
        EDDY_FIELD(struct account, parent, EDDY_FIELD_REQUIRED,
                   EDDY_FIELD_NULL_FLAG(struct account, is_parent_null)),
        EDDY_FIELD(struct account, score, EDDY_FIELD_MIN(-10), EDDY_FIELD_MAX(10)),
        EDDY_FIELD(struct account, ratio, EDDY_FIELD_MIN(0), EDDY_FIELD_MAX(0.5)),
        EDDY_FIELD(struct account, weight),
        EDDY_FIELD(struct account, verified, EDDY_FIELD_DEFAULT("false")),
        EDDY_FIELD_ENUM(struct account, color, colors),
        EDDY_FIELD(struct account, note),
};
static const struct eddy_fields account_fields =
        EDDY_FIELDS(struct account, account_list, EDDY_FIELDS_STRICT);

/* ---- numbers: each size, with and without limits ----------------------------------------------- */

struct numbers {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64, low;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64, high;
        double real;
        float single;
        bool has_high;
};

static const struct eddy_field numbers_list[] = {
        EDDY_FIELD(struct numbers, i8),
        EDDY_FIELD(struct numbers, i16),
        EDDY_FIELD(struct numbers, i32),
        EDDY_FIELD(struct numbers, i64),
        EDDY_FIELD(struct numbers, low, EDDY_FIELD_MIN(INT64_MIN + 1),
                   EDDY_FIELD_MAX(INT64_MAX - 1)),
        EDDY_FIELD(struct numbers, u8),
        EDDY_FIELD(struct numbers, u16),
        EDDY_FIELD(struct numbers, u32),
        EDDY_FIELD(struct numbers, u64),
        EDDY_FIELD(struct numbers, high, EDDY_FIELD_FLAG(struct numbers, has_high),
                   EDDY_FIELD_MIN((uint64_t) INT64_MAX + 1), EDDY_FIELD_MAX(UINT64_MAX - 1)),
        EDDY_FIELD(struct numbers, real, EDDY_FIELD_MIN(-1.5)),
        EDDY_FIELD(struct numbers, single, EDDY_FIELD_MAX(16777217)),
};
static const struct eddy_fields numbers_fields = EDDY_FIELDS(struct numbers, numbers_list, 0);

/* ---- order: structs, arrays and lists of each kind --------------------------------------------- */

struct address {
        char *city;
        char zip[6];
        bool has_zip;
};

struct line {
        char sku[9];
        uint32_t count;
        struct address *to;
        size_t to_count;
};

struct order {
        struct address home, work;
        struct line *lines;
        size_t lines_count;
        struct address stops[2];
        size_t stops_count;
        char **tags;
        size_t tags_count;
        char words[3][5];
        size_t words_count;
        int32_t codes[3];
        size_t codes_count;
        double *ratios;
        size_t ratios_count;
        bool *flags;
        size_t flags_count;
        int *shades;
        size_t shades_count;
        char *meta, *any;
        bool has_work, has_flags;
};

static const struct eddy_field address_list[] = {
        EDDY_FIELD(struct address, city, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 20)),
        EDDY_FIELD(struct address, zip, EDDY_FIELD_FLAG(struct address, has_zip),
                   EDDY_FIELD_LENGTH(5, 5)),
};
static const struct eddy_fields address_fields =
        EDDY_FIELDS(struct address, address_list, EDDY_FIELDS_STRICT);
static const struct eddy_field line_list[] = {
        EDDY_FIELD(struct line, sku, EDDY_FIELD_REQUIRED),
        EDDY_FIELD(struct line, count, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1)),
        EDDY_FIELD_LIST_OF(struct line, to, to_count, &address_fields),
};
static const struct eddy_fields line_fields = EDDY_FIELDS(struct line, line_list, 0);
static const struct eddy_field order_list[] = {
        EDDY_FIELD_STRUCT(struct order, home, &address_fields, EDDY_FIELD_REQUIRED),
        EDDY_FIELD_STRUCT(struct order, work, &address_fields,
                          EDDY_FIELD_FLAG(struct order, has_work)),
        EDDY_FIELD_LIST_OF(struct order, lines, lines_count, &line_fields, EDDY_FIELD_REQUIRED,
                           EDDY_FIELD_LENGTH(1, 3)),
        EDDY_FIELD_ARRAY_OF(struct order, stops, stops_count, &address_fields),
        EDDY_FIELD_LIST(struct order, tags, tags_count, EDDY_FIELD_LENGTH(0, 4),
                        EDDY_FIELD_ITEM_LENGTH(1, 8), EDDY_FIELD_UNIQUE),
        EDDY_FIELD_ARRAY(struct order, words, words_count),
        EDDY_FIELD_ARRAY(struct order, codes, codes_count, EDDY_FIELD_MIN(-5), EDDY_FIELD_MAX(5),
                         EDDY_FIELD_UNIQUE),
        EDDY_FIELD_LIST(struct order, ratios, ratios_count, EDDY_FIELD_MAX(1), EDDY_FIELD_UNIQUE),
        EDDY_FIELD_LIST(struct order, flags, flags_count, EDDY_FIELD_FLAG(struct order, has_flags),
                        EDDY_FIELD_LENGTH(2, 3)),
        { .name = "shades",
          .kind = EDDY_KIND_ENUM,
          .shape = EDDY_SHAPE_LIST,
          .offset = offsetof(struct order, shades),
          .bytes = sizeof(int),
          .count_offset = offsetof(struct order, shades_count),
          .names = colors,
          .unique = true },
        EDDY_FIELD_RAW(struct order, meta, EDDY_FIELD_LENGTH(2, 20)),
        EDDY_FIELD_RAW(struct order, any, EDDY_FIELD_REQUIRED),
};
static const struct eddy_fields order_fields = EDDY_FIELDS(struct order, order_list, 0);

/* ---- contact: formats -------------------------------------------------------------------------- */

struct contact {
        char *email, *uuid, *time, *date, *uri, *ip, *ipv4, *ipv6, *slug;
        char short_date[11];
        bool has_short_date;
        char **copies;
        size_t copies_count;
};

static const char *slug_fault(const char *text, size_t bytes)
{
        return memchr(text, ' ', bytes) ? "a slug has no spaces" : NULL;
}

static const struct eddy_field contact_list[] = {
        EDDY_FIELD(struct contact, email, EDDY_FIELD_FORMAT("email")),
        EDDY_FIELD(struct contact, uuid, EDDY_FIELD_FORMAT("uuid")),
        EDDY_FIELD(struct contact, time, EDDY_FIELD_FORMAT("date-time")),
        EDDY_FIELD(struct contact, date, EDDY_FIELD_FORMAT("date")),
        EDDY_FIELD(struct contact, uri, EDDY_FIELD_FORMAT("uri")),
        EDDY_FIELD(struct contact, ip, EDDY_FIELD_FORMAT("ip")),
        EDDY_FIELD(struct contact, ipv4, EDDY_FIELD_FORMAT("ipv4")),
        EDDY_FIELD(struct contact, ipv6, EDDY_FIELD_FORMAT("ipv6")),
        EDDY_FIELD(struct contact, slug, EDDY_FIELD_FORMAT_FN("slug", slug_fault)),
        EDDY_FIELD(struct contact, short_date, EDDY_FIELD_FLAG(struct contact, has_short_date),
                   EDDY_FIELD_FORMAT("date")),
        EDDY_FIELD_LIST(struct contact, copies, copies_count, EDDY_FIELD_FORMAT("email"),
                        EDDY_FIELD_ITEM_LENGTH(0, 30)),
};
static const struct eddy_fields contact_fields = EDDY_FIELDS(struct contact, contact_list, 0);

/* ---- drawing: tagged unions -------------------------------------------------------------------- */

struct circle {
        double radius;
};

struct text {
        char *words;
        char **fonts;
        size_t fonts_count;
};

struct shape {
        int kind;
        union {
                struct circle circle;
                struct text text;
        } as;
};

struct drawing {
        struct shape frame;
        struct shape *shapes;
        size_t shapes_count;
};

static const struct eddy_field circle_list[] = {
        EDDY_FIELD(struct circle, radius, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(0)),
};
static const struct eddy_fields circle_fields =
        EDDY_FIELDS(struct circle, circle_list, EDDY_FIELDS_STRICT);
static const struct eddy_field text_list[] = {
        EDDY_FIELD(struct text, words, EDDY_FIELD_REQUIRED),
        EDDY_FIELD_LIST(struct text, fonts, fonts_count),
};
static const struct eddy_fields text_fields = EDDY_FIELDS(struct text, text_list, 0);
static const char *const shape_names[] = { "circle", "free text", NULL };
static const struct eddy_field shape_list[] = {
        EDDY_FIELD_TAG(struct shape, kind, shape_names, EDDY_FIELD_AS("type")),
        EDDY_FIELD_STRUCT(struct shape, as.circle, &circle_fields),
        EDDY_FIELD_STRUCT(struct shape, as.text, &text_fields),
};
static const struct eddy_fields shape_fields = EDDY_FIELDS(struct shape, shape_list, 0);
static const struct eddy_field drawing_list[] = {
        EDDY_FIELD_STRUCT(struct drawing, frame, &shape_fields, EDDY_FIELD_REQUIRED),
        EDDY_FIELD_LIST_OF(struct drawing, shapes, shapes_count, &shape_fields),
};
static const struct eddy_fields drawing_fields = EDDY_FIELDS(struct drawing, drawing_list, 0);

/* ---- catalog: maps ----------------------------------------------------------------------------- */

struct header {
        char *name, *value;
};

struct price {
        char currency[4];
        uint32_t cents;
};

struct office {
        char *name;
        struct address address;
};

struct group {
        char *name;
        int16_t *members;
        size_t members_count;
};

struct figure {
        char *name;
        struct shape shape;
};

struct catalog {
        struct header *headers;
        size_t headers_count;
        struct price *prices;
        size_t prices_count;
        struct office *offices;
        size_t offices_count;
        struct group *groups;
        size_t groups_count;
        struct figure *figures;
        size_t figures_count;
};

static const struct eddy_field header_list[] = {
        EDDY_FIELD(struct header, name),
        EDDY_FIELD(struct header, value),
};
static const struct eddy_fields header_fields = EDDY_FIELDS(struct header, header_list, 0);
static const struct eddy_field price_list[] = {
        EDDY_FIELD(struct price, currency, EDDY_FIELD_LENGTH(3, 3)),
        EDDY_FIELD(struct price, cents, EDDY_FIELD_REQUIRED, EDDY_FIELD_MAX(99999)),
};
static const struct eddy_fields price_fields = EDDY_FIELDS(struct price, price_list, 0);
static const struct eddy_field office_list[] = {
        EDDY_FIELD(struct office, name, EDDY_FIELD_FORMAT("uuid")),
        EDDY_FIELD_STRUCT(struct office, address, &address_fields, EDDY_FIELD_REQUIRED),
};
static const struct eddy_fields office_fields = EDDY_FIELDS(struct office, office_list, 0);
static const struct eddy_field group_list[] = {
        EDDY_FIELD(struct group, name),
        EDDY_FIELD_LIST(struct group, members, members_count, EDDY_FIELD_REQUIRED,
                        EDDY_FIELD_LENGTH(1, 3)),
};
static const struct eddy_fields group_fields = EDDY_FIELDS(struct group, group_list, 0);
static const struct eddy_field figure_list[] = {
        EDDY_FIELD(struct figure, name),
        EDDY_FIELD_STRUCT(struct figure, shape, &shape_fields, EDDY_FIELD_REQUIRED),
};
static const struct eddy_fields figure_fields = EDDY_FIELDS(struct figure, figure_list, 0);
static const struct eddy_field catalog_list[] = {
        EDDY_FIELD_MAP(struct catalog, headers, headers_count, &header_fields),
        EDDY_FIELD_MAP(struct catalog, prices, prices_count, &price_fields, EDDY_FIELD_REQUIRED,
                       EDDY_FIELD_LENGTH(1, 2)),
        EDDY_FIELD_MAP(struct catalog, offices, offices_count, &office_fields),
        EDDY_FIELD_MAP(struct catalog, groups, groups_count, &group_fields),
        EDDY_FIELD_MAP(struct catalog, figures, figures_count, &figure_fields),
};
static const struct eddy_fields catalog_fields = EDDY_FIELDS(struct catalog, catalog_list, 0);

#endif
