/*
 * pg/params.c - parameters in libpq's form: bytes in binary format, others as text.
 *
 * No types are sent, so the server infers them: an integer goes into int2 as well as into numeric.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "pg/pg.h"
#include "wire/json.h"

_Static_assert((int) ED_PG_NUMBER_BYTES >= (int) ED_JSON_DOUBLE_BYTES, "a double fits");

/* The limit of the server for a message. */
#define MESSAGE_MAX ((size_t) 1 << 30)

static void print_double(double real, char number[ED_PG_NUMBER_BYTES])
{
        if (isnan(real))
                memcpy(number, "NaN", sizeof("NaN"));
        else if (isinf(real))
                snprintf(number, ED_PG_NUMBER_BYTES, "%sInfinity", real > 0 ? "" : "-");
        else
                ed_json_double_print(real, number);
}

/* Returns the bytes of the value, or -EINVAL. */
static int64_t put(struct ed_pg_params *params, size_t i, const struct eddy_pg_value *value,
                   char number[ED_PG_NUMBER_BYTES])
{
        params->lengths[i] = 0;
        params->formats[i] = value->kind == EDDY_PG_BYTES;
        params->values[i] = number;
        switch (value->kind) {
        case EDDY_PG_NULL:
                params->values[i] = NULL;
                return 0;
        case EDDY_PG_BOOL:
                memcpy(number, value->number ? "t" : "f", 2);
                return 1;
        case EDDY_PG_INT:
                return snprintf(number, ED_PG_NUMBER_BYTES, "%lld", (long long) value->number);
        case EDDY_PG_DOUBLE:
                print_double(value->real, number);
                return ED_PG_NUMBER_BYTES;
        case EDDY_PG_TEXT:
                params->values[i] = value->data;
                return (int64_t) strlen(value->data);
        case EDDY_PG_BYTES:
                if (value->bytes > MESSAGE_MAX || (!value->data && value->bytes > 0))
                        return -EINVAL;
                params->values[i] = value->data ? value->data : "";
                params->lengths[i] = (int) value->bytes;
                return (int64_t) value->bytes;
        default:
                return -EINVAL;
        }
}

static int make_room(struct ed_pg_params *params, size_t n,
                     char (**ret_numbers)[ED_PG_NUMBER_BYTES])
{
        enum { EACH = sizeof(char *) + 2 * sizeof(int) + ED_PG_NUMBER_BYTES };

        params->memory = NULL;
        if (n <= ED_PG_PARAMS_FEW) {
                params->values = params->few_values;
                params->lengths = params->few_lengths;
                params->formats = params->few_formats;
                *ret_numbers = params->few_numbers;
                return 0;
        }
        params->memory = ed_alloc(n * EACH);
        if (!params->memory)
                return -ENOMEM;
        params->values = params->memory;
        params->lengths = (int *) (params->values + n);
        params->formats = params->lengths + n;
        *ret_numbers = (void *) (params->formats + n);
        return 0;
}

int ed_pg_params_init(struct ed_pg_params *params, const struct eddy_pg_value *values, size_t n)
{
        char(*numbers)[ED_PG_NUMBER_BYTES];
        int err;

        if (n > EDDY_PG_PARAMS_MAX || (n > 0 && !values))
                return -EINVAL;
        err = make_room(params, n, &numbers);
        if (err < 0)
                return err;
        params->count = (int) n;
        params->bytes = 0;
        for (size_t i = 0; i < n && err == 0; i++) {
                int64_t bytes = put(params, i, &values[i], numbers[i]);

                params->bytes += bytes > 0 ? (size_t) bytes : 0;
                if (bytes < 0 || params->bytes > MESSAGE_MAX)
                        err = -EINVAL;
        }
        if (err < 0)
                ed_pg_params_fini(params);
        return err;
}

void ed_pg_params_fini(struct ed_pg_params *params)
{
        ed_free(params->memory);
        params->memory = NULL;
}
