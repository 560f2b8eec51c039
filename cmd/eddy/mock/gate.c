/*
 * mock/gate.c - refuses, delays and fails requests, as the options choose.
 */
#include "mock/gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/draft.h"
#include "common/duration.h"
#include "eddy/time.h"
#include "mock/dialect.h"
#include "mock/grant.h"

enum { KEY_SHOWN_MAX = 8 };

/* The time after which a vendor gives a new quota. */
#define QUOTA_NS (EDDY_MIN(60) * 24)

/* Returns the key that a request gives as a bearer token or in api-key, or "". */
static const char *key_of(const eddy_http_exchange *exchange)
{
        static const char bearer[] = "Bearer ";
        const char *value = eddy_http_exchange_header(exchange, "Authorization");

        if (value && strncasecmp(value, bearer, sizeof(bearer) - 1) == 0)
                return value + sizeof(bearer) - 1;
        value = eddy_http_exchange_header(exchange, "api-key");
        return value ? value : "";
}

/* Send a refusal. Returns 1, or a negative error. */
static int refuse(struct ed_reply *reply, const struct ed_openai_fault *fault)
{
        int err = ed_reply_fault(reply, fault);

        return err < 0 ? err : 1;
}

/* ---- dialects ------------------------------------------------------------------------------ */

/* Add the headers of the vendor. Values that name a limit that does not exist are left out. */
static void dialect_show(struct ed_reply *reply, enum ed_when when,
                         const struct ed_dialect_facts *facts)
{
        for (const struct ed_dialect_header *header = ed_dialect_headers; header->vendor;
             header++) {
                struct ed_draft value = { 0 };

                if (!ed_dialect_has(header, reply->mock->opts.vendor, when))
                        continue;
                if (ed_dialect_expand(header->value, facts, &value)) {
                        ed_draft_add(&value, "", 1);
                        if (ed_draft_is_whole(&value))
                                ed_reply_header(reply, header->name, value.data);
                }
                ed_draft_fini(&value);
        }
}

/* Refuse as the vendor does. Returns as refuse(). */
static int dialect_refuse(struct ed_reply *reply, enum ed_when when, int64_t wait_ns)
{
        const struct ed_mock_opts *opts = &reply->mock->opts;
        const struct ed_dialect_refusal *refusal = ed_dialect_refusal_of(opts->vendor, when);
        struct ed_dialect_facts facts = { .requests = { .limit = opts->limits.rpm },
                                          .tokens = { .limit = opts->limits.tpm },
                                          .wait_ns = wait_ns,
                                          .now_ns = eddy_time_of_day(),
                                          .id = reply->id };
        struct ed_draft text = { 0 };
        int err;

        dialect_show(reply, when, &facts);
        (void) ed_dialect_expand(refusal->body, &facts, &text);
        ed_draft_add_str(&text, "\n");
        err = ed_draft_is_whole(&text) ? ed_reply_send(reply, refusal->status, "application/json",
                                                       text.data, text.bytes)
                                       : -ENOMEM;
        ed_draft_fini(&text);
        return err < 0 ? err : 1;
}

static struct ed_dialect_limit limit_of(const struct ed_bucket *bucket, uint32_t limit)
{
        return (struct ed_dialect_limit){ limit, ed_bucket_left(bucket),
                                          ed_bucket_full_ns(bucket) };
}

/* ---- refusals ------------------------------------------------------------------------------ */

/* Refuse because of a limit, and state the time until a retry. A time below 0 means never. */
static int limit_refuse(struct ed_reply *reply, const char *type, const char *code,
                        const char *what, int64_t wait_ns)
{
        struct ed_openai_fault fault = { 0 };
        char wait[ED_RESET_TEXT_BYTES];

        if (reply->mock->opts.vendor && wait_ns >= 0)
                return dialect_refuse(reply, ED_WHEN_LIMITED, wait_ns);
        if (wait_ns < 0) {
                ed_openai_fault_set(&fault, 429, NULL, code, "%s.", what);
        } else {
                ed_reset_print(wait_ns, wait);
                ed_openai_fault_set(&fault, 429, NULL, code, "%s. Please try again in %s.", what,
                                    wait);
                ed_reply_retry_after(reply, wait_ns);
        }
        fault.type = type;
        return refuse(reply, &fault);
}

/* Returns the key of the options, or NULL. */
static const struct ed_mock_api_key *api_key_find(const struct ed_mock_opts *opts, const char *key)
{
        size_t bytes = strlen(key);

        for (uint32_t i = 0; i < opts->api_keys_count; i++)
                if (opts->api_keys[i].bytes == bytes &&
                    memcmp(opts->api_keys[i].text, key, bytes) == 0)
                        return &opts->api_keys[i];
        return NULL;
}

/* Returns the limits of a key. */
static struct ed_limits limits_of(const struct ed_mock_opts *opts, const char *key)
{
        const struct ed_mock_api_key *own = api_key_find(opts, key);
        struct ed_limits limits = opts->limits;

        if (own && own->limits.rpm > 0)
                limits.rpm = own->limits.rpm;
        if (own && own->limits.tpm > 0)
                limits.tpm = own->limits.tpm;
        if (own && own->limits.quota > 0)
                limits.quota = own->limits.quota;
        return limits;
}

static enum ed_grant_state grant_check(const struct ed_mock *mock, const char *key)
{
        if (mock->opts.token_life_ns == 0)
                return ED_GRANT_OTHER;
        return ed_grant_check(key, mock->secret, mock->opts.token_life_ns, eddy_time_of_day());
}

/* Returns the name by which the limits of a key are counted. All granted tokens have one name. */
static const char *counted_name(const struct ed_mock *mock, const char *key)
{
        return grant_check(mock, key) == ED_GRANT_OTHER ? key : "a granted token";
}

static int key_check(struct ed_reply *reply, const char *key)
{
        const struct ed_mock_opts *opts = &reply->mock->opts;
        struct ed_openai_fault fault = { 0 };
        enum ed_grant_state state = grant_check(reply->mock, key);

        if ((opts->api_keys_count == 0 && opts->token_life_ns == 0) || state == ED_GRANT_VALID ||
            api_key_find(opts, key))
                return 0;
        if (state == ED_GRANT_EXPIRED)
                ed_openai_fault_set(&fault, 401, NULL, "token_expired",
                                    "The access token has expired; get another one from "
                                    "/oauth/token.");
        else if (*key)
                ed_openai_fault_set(&fault, 401, NULL, "invalid_api_key",
                                    "Incorrect API key provided: %.*s%s.", KEY_SHOWN_MAX, key,
                                    strlen(key) > KEY_SHOWN_MAX ? "***" : "");
        else
                ed_openai_fault_set(&fault, 401, NULL, NULL,
                                    "You didn't provide an API key. Provide it in an "
                                    "Authorization header: Authorization: Bearer YOUR_KEY.");
        ed_reply_header(reply, "WWW-Authenticate", "Bearer");
        return refuse(reply, &fault);
}

/* Add the state of the limits on requests and tokens of a key to the answer's head. */
static void limits_show(struct ed_reply *reply, const struct ed_limits *limits,
                        const struct ed_key *key)
{
        char reset[ED_RESET_TEXT_BYTES];

        if (reply->mock->opts.vendor) {
                dialect_show(reply, ED_WHEN_ALWAYS,
                             &(struct ed_dialect_facts){
                                     .requests = limit_of(&key->requests, limits->rpm),
                                     .tokens = limit_of(&key->tokens, limits->tpm),
                                     .now_ns = eddy_time_of_day() });
                return;
        }
        if (limits->rpm > 0) {
                ed_reset_print(ed_bucket_full_ns(&key->requests), reset);
                ed_reply_header_u64(reply, "x-ratelimit-limit-requests", limits->rpm);
                ed_reply_header_u64(reply, "x-ratelimit-remaining-requests",
                                    ed_bucket_left(&key->requests));
                ed_reply_header(reply, "x-ratelimit-reset-requests", reset);
        }
        if (limits->tpm > 0) {
                ed_reset_print(ed_bucket_full_ns(&key->tokens), reset);
                ed_reply_header_u64(reply, "x-ratelimit-limit-tokens", limits->tpm);
                ed_reply_header_u64(reply, "x-ratelimit-remaining-tokens",
                                    ed_bucket_left(&key->tokens));
                ed_reply_header(reply, "x-ratelimit-reset-tokens", reset);
        }
}

/*
 * Count a request of a key. Copies the key's state, and stores the time until a request may be made.
 * Returns true if the quota is used up.
 */
static bool key_count(struct ed_mock *mock, const char *name, const struct ed_limits *limits,
                      struct ed_key *ret_key, int64_t *ret_wait_ns)
{
        int64_t now_ns = eddy_now();
        struct ed_key *key;
        bool exceeds;

        pthread_mutex_lock(&mock->lock);
        key = ed_keys_find(&mock->keys, limits, name, strlen(name), now_ns);
        exceeds = limits->quota > 0 && key->served >= limits->quota;
        if (!exceeds) {
                *ret_wait_ns = ed_bucket_take(&key->requests, now_ns);
                /* Update the tokens to the present time. */
                (void) ed_bucket_take_many(&key->tokens, 0, now_ns);
                key->served += *ret_wait_ns == 0;
                *ret_key = *key;
        }
        pthread_mutex_unlock(&mock->lock);
        return exceeds;
}

/* Count the request against the limits of its key. */
static int key_limit(struct ed_reply *reply, const char *name)
{
        struct ed_mock *mock = reply->mock;
        struct ed_limits limits = limits_of(&mock->opts, name);
        int64_t wait_ns;
        struct ed_key key;
        bool exceeds;
        char what[96];

        if (limits.rpm == 0 && limits.tpm == 0 && limits.quota == 0)
                return 0;
        exceeds = key_count(mock, name, &limits, &key, &wait_ns);
        if (exceeds && mock->opts.vendor)
                return dialect_refuse(reply, ED_WHEN_SPENT, QUOTA_NS);
        if (exceeds)
                return limit_refuse(reply, "insufficient_quota", "insufficient_quota",
                                    "You exceeded your current quota, please check your plan and "
                                    "billing details",
                                    -1);
        if (wait_ns > 0) {
                limits_show(reply, &limits, &key);
                snprintf(what, sizeof(what),
                         "Rate limit reached for requests per min (RPM): Limit %u", limits.rpm);
                return limit_refuse(reply, "requests", "rate_limit_exceeded", what, wait_ns);
        }
        /* If the request has tokens, the limits are shown after the tokens are counted. */
        if (!reply->counts_tokens)
                limits_show(reply, &limits, &key);
        return 0;
}

int ed_gate_tokens(struct ed_reply *reply, uint64_t tokens)
{
        struct ed_mock *mock = reply->mock;
        const char *name = counted_name(mock, key_of(reply->exchange));
        struct ed_limits limits = limits_of(&mock->opts, name);
        int64_t now_ns = eddy_now(), wait_ns;
        struct ed_key *found, key;
        char what[128];

        if (limits.rpm == 0 && limits.tpm == 0)
                return 0;
        /* Find the entry again: while the body arrived, other keys may have replaced it. */
        pthread_mutex_lock(&mock->lock);
        found = ed_keys_find(&mock->keys, &limits, name, strlen(name), now_ns);
        wait_ns = ed_bucket_take_many(&found->tokens, tokens, now_ns);
        key = *found;
        pthread_mutex_unlock(&mock->lock);
        limits_show(reply, &limits, &key);
        if (wait_ns == 0)
                return 0;
        if (tokens > limits.tpm) {
                snprintf(what, sizeof(what),
                         "Request too large for tokens per min (TPM): Limit %u, Requested %llu",
                         limits.tpm, (unsigned long long) tokens);
                return limit_refuse(reply, "tokens", "rate_limit_exceeded", what, -1);
        }
        snprintf(what, sizeof(what),
                 "Rate limit reached for tokens per min (TPM): Limit %u, Used %llu, Requested %llu",
                 limits.tpm, (unsigned long long) (limits.tpm - ed_bucket_left(&key.tokens)),
                 (unsigned long long) tokens);
        return limit_refuse(reply, "tokens", "rate_limit_exceeded", what, wait_ns);
}

static int capacity_refuse(struct ed_reply *reply)
{
        struct ed_openai_fault fault = { 0 };

        ed_openai_fault_set(&fault, reply->mock->opts.capacity_status, NULL,
                            reply->mock->opts.capacity_status == 429 ? "rate_limit_exceeded"
                                                                     : "service_unavailable",
                            "The server serves as many requests at a time as it can; slow down.");
        if (fault.status == 429)
                fault.type = "requests";
        return refuse(reply, &fault);
}

/* Take a place among the requests that are served at a time. Returns false if all are taken. */
static bool place_take(struct ed_mock *mock, int64_t now_ns, int64_t *ret_wait_ns)
{
        bool taken;

        pthread_mutex_lock(&mock->lock);
        taken = mock->serving < ed_schedule_at(&mock->opts.capacity, now_ns - mock->start_ns);
        if (taken) {
                mock->serving++;
                *ret_wait_ns = ed_bucket_take(&mock->bucket, now_ns);
        }
        pthread_mutex_unlock(&mock->lock);
        return taken;
}

/* Returns true if the request is one of the first ones, which are refused. */
static bool is_refused(struct ed_mock *mock)
{
        bool refused;

        pthread_mutex_lock(&mock->lock);
        refused = mock->refused < mock->opts.refuse;
        mock->refused += refused;
        pthread_mutex_unlock(&mock->lock);
        return refused;
}

int ed_gate_enter(struct ed_reply *reply)
{
        struct ed_mock *mock = reply->mock;
        const char *key = key_of(reply->exchange);
        int64_t now_ns = eddy_now(), wait_ns;
        int err = key_check(reply, key);

        if (err != 0)
                return err;
        if (is_refused(mock))
                return limit_refuse(reply, "requests", "rate_limit_exceeded",
                                    "Rate limit reached: slow down", mock->opts.refuse_ns);
        if (ed_wave_is_on(&mock->opts.wave, now_ns - mock->start_ns, &wait_ns))
                return limit_refuse(reply, "requests", "rate_limit_exceeded",
                                    "Rate limit reached: slow down", wait_ns);
        if (!place_take(mock, now_ns, &wait_ns))
                return capacity_refuse(reply);
        reply->entered = true;
        if (wait_ns > 0)
                return limit_refuse(reply, "requests", "rate_limit_exceeded",
                                    "Rate limit reached: slow down", wait_ns);
        return key_limit(reply, counted_name(mock, key));
}

void ed_gate_leave(struct ed_reply *reply)
{
        if (!reply->entered)
                return;
        reply->entered = false;
        pthread_mutex_lock(&reply->mock->lock);
        reply->mock->serving--;
        pthread_mutex_unlock(&reply->mock->lock);
}

int ed_gate_mood(struct ed_reply *reply)
{
        const struct ed_mock_opts *opts = &reply->mock->opts;
        struct ed_random *random = &reply->random;
        /* Always draw in this order, so that an option does not change the effect of others. */
        int64_t wait_ns = ed_latency_draw(&opts->latency, random);
        bool fails = ed_random_fraction(random) < opts->error_rate;
        bool truncates = ed_random_fraction(random) < opts->truncate_rate;
        bool stalls = ed_random_fraction(random) < opts->stall_rate;
        struct ed_openai_fault fault = { 0 };
        int err = eddy_sleep(wait_ns);

        if (err < 0)
                return err;
        if (fails) {
                int status = ed_random_next(random) & 1 ? 500 : 503;

                ed_openai_fault_set(&fault, status, NULL,
                                    status == 503 ? "service_unavailable" : NULL,
                                    "an error, as asked for");
                return refuse(reply, &fault);
        }
        reply->fate = truncates ? ED_FATE_TRUNCATED : stalls ? ED_FATE_STALLED : ED_FATE_WHOLE;
        return 0;
}
