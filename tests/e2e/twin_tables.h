/*
 * twin_tables.h - tables of twin_server.c; fastapi/app.py has the same types for FastAPI.
 */
#ifndef TWIN_TABLES_H
#define TWIN_TABLES_H

#include "eddy/fields.h"

/* ---- account: scalars; strict ------------------------------------------------------------------ */

struct account {
        uint32_t id;
        char *name, *nickname, *parent, *password;
        int32_t age;
        double ratio;
        bool verified, has_age, has_ratio, has_verified, has_color, is_nickname_null,
                is_parent_null;
        int color;
};

static const char *const colors[] = { "red", "green", "deep blue", NULL };
static const struct eddy_field account_list[] = {
        EDDY_FIELD(struct account, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_READ_ONLY),
        EDDY_FIELD(struct account, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(2, 8)),
        EDDY_FIELD(struct account, age, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(0), EDDY_FIELD_MAX(150),
                   EDDY_FIELD_DESCRIPTION("in years"), EDDY_FIELD_EXAMPLE("42")),
        EDDY_FIELD(struct account, parent, EDDY_FIELD_REQUIRED,
                   EDDY_FIELD_NULL_FLAG(struct account, is_parent_null)),
        EDDY_FIELD(struct account, ratio, EDDY_FIELD_FLAG(struct account, has_ratio),
                   EDDY_FIELD_MIN(0), EDDY_FIELD_MAX(0.5)),
        EDDY_FIELD(struct account, verified, EDDY_FIELD_FLAG(struct account, has_verified),
                   EDDY_FIELD_DEFAULT("false")),
        EDDY_FIELD_ENUM(struct account, color, colors, EDDY_FIELD_FLAG(struct account, has_color)),
        EDDY_FIELD(struct account, nickname, EDDY_FIELD_LENGTH(0, 10),
                   EDDY_FIELD_NULL_FLAG(struct account, is_nickname_null)),
        EDDY_FIELD(struct account, password, EDDY_FIELD_LENGTH(8, 20), EDDY_FIELD_WRITE_ONLY),
};
static const struct eddy_fields account_fields =
        EDDY_FIELDS(struct account, account_list, EDDY_FIELDS_STRICT);

/* ---- order: structs and lists ------------------------------------------------------------------ */

struct address {
        char *city, *zip;
};

struct line {
        char *sku;
        uint32_t count;
        struct address *to;
        size_t to_count;
};

struct order {
        struct address home, work;
        struct line *lines;
        size_t lines_count;
        char **tags;
        size_t tags_count;
        int32_t codes[4];
        size_t codes_count;
        char *note;
        bool has_work;
};

static const struct eddy_field address_list[] = {
        EDDY_FIELD(struct address, city, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 20)),
        EDDY_FIELD(struct address, zip, EDDY_FIELD_LENGTH(5, 5)),
};
static const struct eddy_fields address_fields =
        EDDY_FIELDS(struct address, address_list, EDDY_FIELDS_STRICT);
static const struct eddy_field line_list[] = {
        EDDY_FIELD(struct line, sku, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 8)),
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
        EDDY_FIELD_LIST(struct order, tags, tags_count, EDDY_FIELD_LENGTH(0, 4),
                        EDDY_FIELD_ITEM_LENGTH(1, 8), EDDY_FIELD_UNIQUE),
        EDDY_FIELD_ARRAY(struct order, codes, codes_count, EDDY_FIELD_MIN(-5), EDDY_FIELD_MAX(5)),
        EDDY_FIELD_RAW(struct order, note),
};
static const struct eddy_fields order_fields = EDDY_FIELDS(struct order, order_list, 0);

/* ---- drawing: a tagged union, and a map --------------------------------------------------------- */

struct circle {
        double radius;
};

struct square {
        int32_t side;
        char *label;
};

struct shape {
        int kind;
        union {
                struct circle circle;
                struct square square;
        } as;
};

struct weight {
        char *name;
        int32_t grams;
};

struct drawing {
        struct shape frame;
        struct shape *shapes;
        size_t shapes_count;
        struct weight *weights;
        size_t weights_count;
};

static const struct eddy_field circle_list[] = {
        EDDY_FIELD(struct circle, radius, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(0)),
};
static const struct eddy_fields circle_fields =
        EDDY_FIELDS(struct circle, circle_list, EDDY_FIELDS_STRICT);
static const struct eddy_field square_list[] = {
        EDDY_FIELD(struct square, side, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1)),
        EDDY_FIELD(struct square, label),
};
static const struct eddy_fields square_fields =
        EDDY_FIELDS(struct square, square_list, EDDY_FIELDS_STRICT);
static const char *const shape_names[] = { "circle", "square", NULL };
static const struct eddy_field shape_list[] = {
        EDDY_FIELD_TAG(struct shape, kind, shape_names, EDDY_FIELD_AS("type")),
        EDDY_FIELD_STRUCT(struct shape, as.circle, &circle_fields),
        EDDY_FIELD_STRUCT(struct shape, as.square, &square_fields),
};
static const struct eddy_fields shape_fields = EDDY_FIELDS(struct shape, shape_list, 0);
static const struct eddy_field weight_list[] = {
        EDDY_FIELD(struct weight, name),
        EDDY_FIELD(struct weight, grams, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1),
                   EDDY_FIELD_MAX(1000)),
};
static const struct eddy_fields weight_fields = EDDY_FIELDS(struct weight, weight_list, 0);
static const struct eddy_field drawing_list[] = {
        EDDY_FIELD_STRUCT(struct drawing, frame, &shape_fields, EDDY_FIELD_REQUIRED),
        EDDY_FIELD_LIST_OF(struct drawing, shapes, shapes_count, &shape_fields),
        EDDY_FIELD_MAP(struct drawing, weights, weights_count, &weight_fields,
                       EDDY_FIELD_LENGTH(0, 3)),
};
static const struct eddy_fields drawing_fields = EDDY_FIELDS(struct drawing, drawing_list, 0);

/* ---- contact: formats -------------------------------------------------------------------------- */

struct contact {
        char *email, *uuid, *time, *date, *uri, *ip, *ipv4, *ipv6;
};

static const struct eddy_field contact_list[] = {
        EDDY_FIELD(struct contact, email, EDDY_FIELD_FORMAT("email")),
        EDDY_FIELD(struct contact, uuid, EDDY_FIELD_FORMAT("uuid")),
        EDDY_FIELD(struct contact, time, EDDY_FIELD_FORMAT("date-time")),
        EDDY_FIELD(struct contact, date, EDDY_FIELD_FORMAT("date")),
        EDDY_FIELD(struct contact, uri, EDDY_FIELD_FORMAT("uri")),
        EDDY_FIELD(struct contact, ip, EDDY_FIELD_FORMAT("ip")),
        EDDY_FIELD(struct contact, ipv4, EDDY_FIELD_FORMAT("ipv4")),
        EDDY_FIELD(struct contact, ipv6, EDDY_FIELD_FORMAT("ipv6")),
};
static const struct eddy_fields contact_fields = EDDY_FIELDS(struct contact, contact_list, 0);

/* ---- queries, forms and parameters -------------------------------------------------------------- */

struct search {
        char *q;
        int32_t limit;
        double ratio;
        bool exact, has_ratio, has_exact, has_color;
        int color;
        int32_t *tags;
        size_t tags_count;
};

static const struct eddy_field search_list[] = {
        EDDY_FIELD(struct search, q, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(3, 8)),
        EDDY_FIELD(struct search, limit, EDDY_FIELD_MIN(1), EDDY_FIELD_MAX(100),
                   EDDY_FIELD_DEFAULT("10")),
        EDDY_FIELD(struct search, ratio, EDDY_FIELD_FLAG(struct search, has_ratio),
                   EDDY_FIELD_MIN(-1), EDDY_FIELD_MAX(1)),
        EDDY_FIELD(struct search, exact, EDDY_FIELD_FLAG(struct search, has_exact)),
        EDDY_FIELD_ENUM(struct search, color, colors, EDDY_FIELD_FLAG(struct search, has_color)),
        EDDY_FIELD_LIST(struct search, tags, tags_count, EDDY_FIELD_AS("tag"),
                        EDDY_FIELD_LENGTH(0, 3), EDDY_FIELD_MIN(1)),
};
static const struct eddy_fields search_fields = EDDY_FIELDS(struct search, search_list, 0);
static const struct search search_defaults = { .limit = 10 };

struct page {
        int32_t size, number;
};

static const struct eddy_field page_list[] = {
        EDDY_FIELD(struct page, size, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1), EDDY_FIELD_MAX(9)),
        EDDY_FIELD(struct page, number, EDDY_FIELD_MIN(0)),
};
static const struct eddy_fields page_fields =
        EDDY_FIELDS(struct page, page_list, EDDY_FIELDS_STRICT);

struct place {
        char *team;
        int32_t id;
        int color;
};

static const struct eddy_field item_list[] = {
        EDDY_FIELD(struct place, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1), EDDY_FIELD_MAX(1000)),
        EDDY_FIELD_ENUM(struct place, color, colors, EDDY_FIELD_REQUIRED),
};
static const struct eddy_fields item_fields = EDDY_FIELDS(struct place, item_list, 0);
static const struct eddy_field member_list[] = {
        EDDY_FIELD(struct place, team, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(2, 5)),
        EDDY_FIELD(struct place, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1)),
};
static const struct eddy_fields member_fields = EDDY_FIELDS(struct place, member_list, 0);

struct signup {
        char *name;
        int32_t age;
        int color;
        bool has_age, has_color;
        char **tags;
        size_t tags_count;
};

static const struct eddy_field signup_list[] = {
        EDDY_FIELD(struct signup, name, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(2, 8)),
        EDDY_FIELD(struct signup, age, EDDY_FIELD_FLAG(struct signup, has_age), EDDY_FIELD_MIN(0),
                   EDDY_FIELD_MAX(150)),
        EDDY_FIELD_ENUM(struct signup, color, colors, EDDY_FIELD_FLAG(struct signup, has_color)),
        EDDY_FIELD_LIST(struct signup, tags, tags_count, EDDY_FIELD_AS("tag"),
                        EDDY_FIELD_ITEM_LENGTH(1, 8)),
};
static const struct eddy_fields signup_fields = EDDY_FIELDS(struct signup, signup_list, 0);

#endif
