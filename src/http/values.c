/*
 * http/values.c - see values.h.
 */
#include "http/values.h"

#include <errno.h>

#include "base/alloc.h"

/* The value of one key. */
struct ed_http_value {
        struct ed_http_value *next;
        const void *key;
        void *value;
        eddy_http_value_fn *free_value; /* NULL: none */
};

static struct ed_http_value *find(const eddy_http_exchange *exchange, const void *key)
{
        struct ed_http_value *value = exchange->values;

        while (value && value->key != key)
                value = value->next;
        return value;
}

static void fini(const struct ed_http_value *value)
{
        if (value->value && value->free_value)
                value->free_value(value->value);
}

int eddy_http_exchange_set(eddy_http_exchange *exchange, const void *key, void *value,
                           eddy_http_value_fn *free_value)
{
        struct ed_http_value *kept, old;

        if (!key)
                return -EINVAL;
        kept = find(exchange, key);
        if (kept) {
                old = *kept;
                kept->value = value;
                kept->free_value = free_value;
                fini(&old);
                return 0;
        }
        kept = ed_alloc(sizeof(*kept));
        if (!kept)
                return -ENOMEM;
        *kept = (struct ed_http_value){ exchange->values, key, value, free_value };
        exchange->values = kept;
        return 0;
}

void *eddy_http_exchange_get(const eddy_http_exchange *exchange, const void *key)
{
        const struct ed_http_value *value = find(exchange, key);

        return value ? value->value : NULL;
}

void ed_http_values_fini(eddy_http_exchange *exchange)
{
        while (exchange->values) {
                struct ed_http_value *value = exchange->values;

                exchange->values = value->next;
                fini(value);
                ed_free(value);
        }
}
