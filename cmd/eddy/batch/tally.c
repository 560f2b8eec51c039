/*
 * batch/tally.c - counts requests.
 */
#include "batch/tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "batch/request/tokens.h"
#include "common/duration.h"
#include "common/url_parts.h"
#include "eddy/alloc.h"
#include "eddy/json.h"

#define MINUTE_NS 60e9

int ed_tally_init(struct ed_tally *tally)
{
        *tally = (struct ed_tally){ .kinds = eddy_malloc(ED_TALLY_KINDS_MAX *
                                                         sizeof(*tally->kinds)) };
        return tally->kinds ? 0 : -ENOMEM;
}

void ed_tally_fini(struct ed_tally *tally)
{
        eddy_free(tally->kinds);
        tally->kinds = NULL;
        ed_hash_map_fini(&tally->map);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static uint64_t total_of(uint64_t a, uint64_t b)
{
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The model that the body names, as in its JSON text; otherwise empty. */
static struct eddy_json_value model_of(const struct ed_request *request)
{
        struct eddy_json_value body, model;

        if (!request->body_is_json || request->body_bytes == 0 ||
            eddy_json_parse(request->body, request->body_bytes, NULL, &body, NULL) < 0 ||
            body.kind != EDDY_JSON_OBJECT || eddy_json_get(&body, "model", &model) < 0 ||
            model.kind != EDDY_JSON_STRING)
                return (struct eddy_json_value){ .text = "" };
        return model;
}

/* A URL without its query, in two parts, between which a user and a password are left out. */
struct bare_url {
        const char *scheme, *rest;
        size_t scheme_bytes, rest_bytes;
};

static struct bare_url url_strip(const char *url)
{
        struct ed_url_parts parts = ed_url_parts(url);

        return (struct bare_url){ url, parts.host, (size_t) (parts.authority - url),
                                  (size_t) (parts.query - parts.host) };
}

static void kind_name(struct ed_tally_kind *kind, const struct ed_request *request,
                      const struct bare_url *url, const struct eddy_json_value *model)
{
        int n = snprintf(kind->name, sizeof(kind->name), "%.32s %.*s%.*s", request->method,
                         (int) url->scheme_bytes, url->scheme,
                         (int) (url->rest_bytes < ED_TALLY_NAME_BYTES ? url->rest_bytes
                                                                      : ED_TALLY_NAME_BYTES),
                         url->rest);

        if (n >= (int) sizeof(kind->name))
                memcpy(kind->name + sizeof(kind->name) - 4, "...", 4);
        for (char *at = kind->name; *at; at++)
                if ((unsigned char) *at < 0x20 || (unsigned char) *at >= 0x7f)
                        *at = '?';
        kind->model[0] = '\0';
        if (model->bytes > 2)
                ed_excerpt(kind->model, model->text + 1, model->bytes - 2);
}

static void kind_count(struct ed_tally *tally, const struct ed_request *request)
{
        struct eddy_json_value model = model_of(request);
        struct bare_url url = url_strip(tally->url ? tally->url : request->url);
        uint64_t hash = XXH3_64bits(request->method, strlen(request->method));
        struct ed_tally_kind *kind;

        hash = XXH3_64bits_withSeed(url.scheme, url.scheme_bytes, hash);
        hash = XXH3_64bits_withSeed(url.rest, url.rest_bytes, hash);
        hash = XXH3_64bits_withSeed(model.text, model.bytes, hash);
        kind = (struct ed_tally_kind *) ed_hash_map_find(&tally->map, hash);
        if (kind) {
                kind->count++;
                return;
        }
        if (tally->kinds_count == ED_TALLY_KINDS_MAX) {
                tally->others++;
                return;
        }
        kind = &tally->kinds[tally->kinds_count++];
        ed_hash_map_add(&tally->map, &kind->link, hash);
        kind->count = 1;
        kind_name(kind, request, &url, &model);
}

void ed_tally_add(struct ed_tally *tally, const struct ed_request *request)
{
        uint64_t tokens = ed_tokens_estimate(request);

        tally->requests++;
        tally->output_tokens = total_of(tally->output_tokens, request->output_tokens_max);
        tally->input_tokens = total_of(tally->input_tokens, tokens - request->output_tokens_max);
        if (request->generates && request->output_tokens_max == 0)
                tally->unlimited++;
        kind_count(tally, request);
}

/* The larger count first; then by name. */
static int kind_compare(const void *left, const void *right)
{
        const struct ed_tally_kind *a = left, *b = right;
        int order;

        if (a->count != b->count)
                return a->count > b->count ? -1 : 1;
        order = strcmp(a->name, b->name);
        return order ? order : strcmp(a->model, b->model);
}

void ed_tally_order(struct ed_tally *tally)
{
        qsort(tally->kinds, tally->kinds_count, sizeof(*tally->kinds), kind_compare);
}

/* ---- time ------------------------------------------------------------------------------------ */

int64_t ed_tally_time(const struct ed_tally *tally, const struct ed_tally_pace *pace,
                      const char **ret_limit)
{
        double requests = (double) (pace->sent ? pace->sent : tally->requests);
        double minute_ns = MINUTE_NS / (pace->servers ? pace->servers : 1);
        double tokens = (double) tally->input_tokens + (double) tally->output_tokens;
        const struct {
                const char *option;
                double ns;
        } needs[] = {
                { "--rpm", pace->rpm ? requests / (double) pace->rpm * minute_ns : 0 },
                { "--tpm", pace->tpm ? tokens / (double) pace->tpm * minute_ns : 0 },
                { "-c", pace->concurrency ? requests * (double) pace->latency_ns / pace->concurrency
                                          : 0 },
        };
        double most = 0;

        *ret_limit = NULL;
        for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
                if (needs[i].ns <= most)
                        continue;
                most = needs[i].ns;
                *ret_limit = needs[i].option;
        }
        return most < (double) ED_DURATION_MAX_NS ? (int64_t) most : ED_DURATION_MAX_NS;
}
