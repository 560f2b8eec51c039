/*
 * page.c - a strict parser of a page of metrics.
 */
#include "page.h"

#include <ctype.h>

#include "eddy/json.h"
#include "test.h"

enum { SERIES_MAX = 4000, FAMILIES_MAX = 1100, NAME_MAX_ = 300 };

struct page {
        const char *at;
        char families[FAMILIES_MAX][NAME_MAX_];
        int families_count;
        char type[20];
        bool has_help;                  /* HELP of the family to come */
        const char *series[SERIES_MAX]; /* each up to its last space */
        size_t series_bytes[SERIES_MAX];
        int series_count;
        /* The histogram's series under way. */
        double bucket, limit;
};

static void must(struct page *page, bool is_good, const char *what)
{
        if (!is_good)
                test_fail(__FILE__, __LINE__, "%s at: %.80s", what, page->at);
}

static void skip(struct page *page, const char *text)
{
        must(page, strncmp(page->at, text, strlen(text)) == 0, text);
        page->at += strlen(text);
}

static bool is_at(const struct page *page, const char *text)
{
        return strncmp(page->at, text, strlen(text)) == 0;
}

static void read_name(struct page *page, char *name, bool colon)
{
        size_t n = 0;

        must(page,
             isalpha((unsigned char) *page->at) || *page->at == '_' || (colon && *page->at == ':'),
             "a name");
        while (isalnum((unsigned char) *page->at) || *page->at == '_' ||
               (colon && *page->at == ':')) {
                must(page, n < NAME_MAX_ - 1, "a shorter name");
                name[n++] = *page->at++;
        }
        name[n] = '\0';
}

static double read_number(struct page *page)
{
        static const char *const words[] = { "NaN", "+Inf", "-Inf" };
        char *end;
        double number;

        for (size_t i = 0; i < 3; i++)
                if (is_at(page, words[i])) {
                        page->at += strlen(words[i]);
                        return i == 0   ? __builtin_nan("")
                               : i == 1 ? __builtin_inf()
                                        : -__builtin_inf();
                }
        must(page, strchr("-.0123456789", *page->at) != NULL, "a number");
        number = strtod(page->at, &end);
        must(page, end > page->at, "a number");
        page->at = end;
        return number;
}

static void begin_family(struct page *page, const char *name)
{
        for (int i = 0; i < page->families_count; i++)
                must(page, strcmp(page->families[i], name) != 0,
                     "a family that was not there before");
        must(page, page->families_count < FAMILIES_MAX, "fewer families");
        memcpy(page->families[page->families_count++], name, strlen(name) + 1);
}

static void read_comment(struct page *page)
{
        char name[NAME_MAX_];
        size_t n;

        if (is_at(page, "# HELP ")) {
                skip(page, "# HELP ");
                read_name(page, name, true);
                begin_family(page, name);
                page->has_help = true;
                skip(page, " ");
                for (; *page->at != '\n'; page->at++) {
                        must(page, *page->at != '\0', "the end of a line");
                        if (*page->at == '\\') {
                                page->at++;
                                must(page, *page->at == '\\' || *page->at == 'n', "an escape");
                        }
                }
                return;
        }
        skip(page, "# TYPE ");
        read_name(page, name, true);
        if (!page->has_help)
                begin_family(page, name);
        must(page, strcmp(page->families[page->families_count - 1], name) == 0, "the name of HELP");
        page->has_help = false;
        skip(page, " ");
        n = strcspn(page->at, "\n");
        must(page, n < sizeof(page->type), "a type");
        memcpy(page->type, page->at, n);
        page->type[n] = '\0';
        must(page,
             strcmp(page->type, "counter") == 0 || strcmp(page->type, "gauge") == 0 ||
                     strcmp(page->type, "histogram") == 0,
             "a type");
        page->at += n;
        page->bucket = 0;
        page->limit = -__builtin_inf();
}

/* Returns the value of the label "le", or NaN. */
static double read_labels(struct page *page)
{
        char names[20][NAME_MAX_];
        double le = __builtin_nan("");
        int n = 0;

        skip(page, "{");
        do {
                if (n > 0)
                        skip(page, ",");
                must(page, n < 20, "fewer labels");
                read_name(page, names[n], false);
                for (int i = 0; i < n; i++)
                        must(page, strcmp(names[i], names[n]) != 0, "a label once");
                skip(page, "=\"");
                if (strcmp(names[n++], "le") == 0) {
                        le = read_number(page);
                        must(page, *page->at == '"', "the end of le");
                }
                for (; *page->at != '"'; page->at++) {
                        must(page, *page->at != '\n' && *page->at != '\0', "the end of a value");
                        if (*page->at == '\\') {
                                page->at++;
                                must(page, strchr("\\\"n", *page->at) != NULL, "an escape");
                        }
                }
                skip(page, "\"");
        } while (*page->at == ',');
        skip(page, "}");
        return le;
}

static void add_series(struct page *page, const char *begin)
{
        size_t bytes = (size_t) (page->at - begin);

        for (int i = 0; i < page->series_count; i++)
                must(page,
                     page->series_bytes[i] != bytes || memcmp(page->series[i], begin, bytes) != 0,
                     "a series once");
        must(page, page->series_count < SERIES_MAX, "fewer series");
        page->series[page->series_count] = begin;
        page->series_bytes[page->series_count++] = bytes;
}

static void check_histogram(struct page *page, const char *suffix, double le, double value)
{
        if (strcmp(suffix, "_bucket") == 0) {
                must(page, le > page->limit, "a rising le");
                must(page, value >= page->bucket, "a rising bucket");
                page->limit = le;
                page->bucket = value;
                return;
        }
        must(page, __builtin_isinf(page->limit) && page->limit > 0, "a bucket +Inf before");
        must(page, le != le, "no le");
        if (strcmp(suffix, "_count") == 0) {
                must(page, value == page->bucket, "the count of the last bucket");
                page->bucket = 0;
                page->limit = -__builtin_inf();
        } else {
                must(page, strcmp(suffix, "_sum") == 0, "_bucket, _sum or _count");
        }
}

static void read_sample(struct page *page)
{
        const char *begin = page->at, *family = page->families[page->families_count - 1];
        double le = __builtin_nan(""), value;
        char name[NAME_MAX_];

        must(page, page->type[0] && !page->has_help, "TYPE before");
        read_name(page, name, true);
        must(page, strncmp(name, family, strlen(family)) == 0, "the family's name");
        if (*page->at == '{')
                le = read_labels(page);
        add_series(page, begin);
        skip(page, " ");
        value = read_number(page);
        if (strcmp(page->type, "histogram") == 0)
                check_histogram(page, name + strlen(family), le, value);
        else
                must(page, strcmp(name, family) == 0, "the family's name");
}

int page_check(const char *text)
{
        static struct page page;

        memset(&page, 0, sizeof(page));
        page.at = text;
        must(&page, eddy_json_is_utf8(text, strlen(text)), "UTF-8");
        while (*page.at) {
                if (*page.at == '#')
                        read_comment(&page);
                else
                        read_sample(&page);
                skip(&page, "\n");
        }
        must(&page, !page.has_help, "TYPE after HELP");
        return page.series_count;
}

const char *page_value(const char *text, const char *series)
{
        size_t bytes = strlen(series);
        static char value[64];

        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
                if (strncmp(line, series, bytes) == 0 && line[bytes] == ' ') {
                        snprintf(value, sizeof(value), "%.*s",
                                 (int) strcspn(line + bytes + 1, "\n"), line + bytes + 1);
                        return value;
                }
        return NULL;
}
