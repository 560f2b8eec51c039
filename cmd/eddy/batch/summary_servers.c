/*
 * batch/summary_servers.c - see summary_servers.h.
 */
#include "batch/summary_servers.h"

#include "common/duration.h"

enum { ALL_SHOWN = 20, WORST_SHOWN = 10 };

/* Append attempts and successes. */
static void counts_add(struct ed_draft *text, uint64_t sent, uint64_t ok)
{
        ed_draft_add_str(text, ": ");
        ed_draft_add_grouped(text, sent);
        ed_draft_add_str(text, sent == 1 ? " attempt, " : " attempts, ");
        ed_draft_add_grouped(text, ok);
        ed_draft_add_str(text, " ok");
}

static void endpoint_add(struct ed_draft *text, const struct ed_endpoint *endpoint)
{
        char paused[ED_DURATION_TEXT_BYTES];

        ed_draft_add_str(text, endpoint->shown);
        counts_add(text, endpoint->sent, endpoint->ok);
        if (endpoint->pauses > 0) {
                ed_duration_print(ed_endpoint_paused(endpoint), paused);
                ed_draft_add_printf(text, ", paused %llu time%s, %s in all",
                                    (unsigned long long) endpoint->pauses,
                                    endpoint->pauses == 1 ? "" : "s", paused);
        }
        ed_draft_add_str(text, endpoint->is_gone ? ", gone\n" : "\n");
}

/* Returns true if 'a' has more failures or pauses than 'b'. */
static bool is_worse(const struct ed_endpoint *a, const struct ed_endpoint *b)
{
        if (a->failed != b->failed)
                return a->failed > b->failed;
        if (a->pauses != b->pauses)
                return a->pauses > b->pauses;
        return a->sent > b->sent;
}

/* Find the worst endpoints, the first of them if they are equal. */
static void worst_find(const struct ed_endpoints *endpoints,
                       const struct ed_endpoint *worst[WORST_SHOWN])
{
        int count = 0;

        for (const struct ed_endpoint *endpoint = endpoints->first; endpoint;
             endpoint = endpoint->next) {
                int at = count < WORST_SHOWN ? count++ : WORST_SHOWN;

                for (; at > 0 && is_worse(endpoint, worst[at - 1]); at--)
                        if (at < WORST_SHOWN)
                                worst[at] = worst[at - 1];
                if (at < WORST_SHOWN)
                        worst[at] = endpoint;
        }
}

static void worst_add(const struct ed_endpoints *endpoints, struct ed_draft *text)
{
        const struct ed_endpoint *worst[WORST_SHOWN];
        uint64_t sent = 0, ok = 0;

        worst_find(endpoints, worst);
        for (int i = 0; i < WORST_SHOWN; i++) {
                endpoint_add(text, worst[i]);
                sent -= worst[i]->sent;
                ok -= worst[i]->ok;
        }
        for (const struct ed_endpoint *endpoint = endpoints->first; endpoint;
             endpoint = endpoint->next) {
                sent += endpoint->sent;
                ok += endpoint->ok;
        }
        ed_draft_add_str(text, "and ");
        ed_draft_add_grouped(text, endpoints->count - WORST_SHOWN);
        ed_draft_add_str(text, " more hosts, with fewer failures and pauses");
        counts_add(text, sent, ok);
        ed_draft_add_str(text, "\n");
}

void ed_servers_add(const struct ed_endpoints *endpoints, struct ed_draft *text)
{
        const struct ed_endpoint *endpoint = endpoints->first;

        if (endpoints->count > ALL_SHOWN)
                worst_add(endpoints, text);
        for (; endpoint && endpoints->count <= ALL_SHOWN; endpoint = endpoint->next)
                if (endpoints->count > 1 || endpoint->pauses > 0)
                        endpoint_add(text, endpoint);
        if (endpoints->forgotten == 0)
                return;
        ed_draft_add_str(text, "and ");
        ed_draft_add_grouped(text, endpoints->forgotten);
        ed_draft_add_str(text, " base URLs that are gone, whose counts were not kept\n");
}

static void member_add(struct ed_draft *text, const char *name, uint64_t value)
{
        ed_draft_add_str(text, name);
        ed_draft_add_u64(text, value);
}

void ed_servers_add_json(const struct ed_endpoints *endpoints, struct ed_draft *text)
{
        ed_draft_add_str(text, ",\"endpoints\":[");
        for (const struct ed_endpoint *endpoint = endpoints->first; endpoint;
             endpoint = endpoint->next) {
                ed_draft_add_str(text, endpoint == endpoints->first ? "{\"name\":" : ",{\"name\":");
                ed_draft_add_json_str(text, endpoint->name);
                if (endpoint->leader->span > 1)
                        member_add(text, ",\"key\":", endpoint->key);
                member_add(text, ",\"attempts\":", endpoint->sent);
                member_add(text, ",\"ok\":", endpoint->ok);
                member_add(text, ",\"pauses\":", endpoint->pauses);
                ed_draft_add_printf(text, ",\"paused_s\":%.3f%s}",
                                    (double) ed_endpoint_paused(endpoint) / 1e9,
                                    endpoint->is_gone ? ",\"gone\":true" : "");
        }
        member_add(text, "],\"endpoints_forgotten\":", endpoints->forgotten);
}
