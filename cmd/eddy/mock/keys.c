/*
 * mock/keys.c - a small table of keys, searched from its start.
 */
#include "mock/keys.h"

#include <stdio.h>

#include "mock/model.h"

struct ed_key *ed_keys_find(struct ed_keys *keys, const struct ed_limits *limits, const char *key,
                            size_t bytes, int64_t now_ns)
{
        uint64_t hash = ed_model_hash(ED_MODEL_HASH, key, bytes);
        struct ed_key *entry = &keys->keys[0];

        keys->uses++;
        for (uint32_t i = 0; i < keys->count; i++) {
                if (keys->keys[i].hash == hash) {
                        keys->keys[i].used = keys->uses;
                        return &keys->keys[i];
                }
                if (keys->keys[i].used < entry->used)
                        entry = &keys->keys[i];
        }
        if (keys->count < ED_KEYS_MAX)
                entry = &keys->keys[keys->count++];
        *entry = (struct ed_key){ .hash = hash, .used = keys->uses };
        ed_bucket_init_minute(&entry->requests, limits->rpm, now_ns);
        ed_bucket_init_minute(&entry->tokens, limits->tpm, now_ns);
        return entry;
}

void ed_reset_print(int64_t reset_ns, char text[ED_RESET_TEXT_BYTES])
{
        /* Round up, because an earlier retry would be refused again. */
        int64_t ms = reset_ns > 0 ? (reset_ns + 999999) / 1000000 : 0, seconds = ms / 1000;
        char fraction[8] = "";
        size_t end;

        if (ms < 1000) {
                snprintf(text, ED_RESET_TEXT_BYTES, "%dms", (int) ms);
                return;
        }
        if (ms % 1000 != 0) {
                end = (size_t) snprintf(fraction, sizeof(fraction), ".%03d", (int) (ms % 1000));
                while (end > 1 && fraction[end - 1] == '0')
                        fraction[--end] = '\0';
        }
        if (seconds >= 3600)
                snprintf(text, ED_RESET_TEXT_BYTES, "%lldh%dm%d%ss", (long long) seconds / 3600,
                         (int) (seconds / 60 % 60), (int) (seconds % 60), fraction);
        else if (seconds >= 60)
                snprintf(text, ED_RESET_TEXT_BYTES, "%dm%d%ss", (int) (seconds / 60),
                         (int) (seconds % 60), fraction);
        else
                snprintf(text, ED_RESET_TEXT_BYTES, "%d%ss", (int) seconds, fraction);
}
