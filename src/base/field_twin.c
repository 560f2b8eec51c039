/*
 * base/field_twin.c - equal items of a list. A long list is sorted by its indices, with heaps: neither a
 * peer's values nor their order make that slow.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fields.h"

enum { SHORT_LIST = 16 /* items that are compared with each other */ };

struct items {
        const struct eddy_field *field;
        const char *at;
        size_t stride;
};

static int compare_doubles(double a, double b)
{
        return (a > b) - (a < b);
}

static int compare_texts(const char *a, const char *b)
{
        if (!a || !b)
                return (a != NULL) - (b != NULL);
        return strcmp(a, b);
}

static int compare(const struct items *items, size_t first, size_t second)
{
        const char *a = items->at + first * items->stride, *b = items->at + second * items->stride;
        const struct eddy_field *field = items->field;

        switch (field->kind) {
        case EDDY_KIND_DOUBLE:
                return compare_doubles(ed_field_double_get(a, field->bytes),
                                       ed_field_double_get(b, field->bytes));
        case EDDY_KIND_CHARS:
                return strncmp(a, b, field->bytes);
        case EDDY_KIND_STRING:
                return compare_texts(*(char *const *) (const void *) a,
                                     *(char *const *) (const void *) b);
        default:
                return memcmp(a, b, field->bytes);
        }
}

/* Equal items keep their order. */
static bool is_before(const struct items *items, size_t first, size_t second)
{
        int order = compare(items, first, second);

        return order < 0 || (order == 0 && first < second);
}

/* Move the index at 'place' down until no index below it is greater. */
static void sink(const struct items *items, size_t *heap, size_t count, size_t place)
{
        size_t index = heap[place], below;

        while ((below = 2 * place + 1) < count) {
                if (below + 1 < count && is_before(items, heap[below], heap[below + 1]))
                        below++;
                if (!is_before(items, index, heap[below]))
                        break;
                heap[place] = heap[below];
                place = below;
        }
        heap[place] = index;
}

static void sort(const struct items *items, size_t *order, size_t count)
{
        for (size_t i = count / 2; i-- > 0;)
                sink(items, order, count, i);
        for (size_t left = count; left-- > 1;) {
                size_t greatest = order[0];

                order[0] = order[left];
                order[left] = greatest;
                sink(items, order, left, 0);
        }
}

static size_t twin_of_short(const struct items *items, size_t count)
{
        for (size_t i = 1; i < count; i++)
                for (size_t j = 0; j < i; j++)
                        if (compare(items, i, j) == 0)
                                return i;
        return count;
}

int ed_field_twin(const struct eddy_field *field, const char *at, size_t stride, size_t count,
                  size_t *ret_index)
{
        struct items items = { field, at, stride };
        size_t *order, twin = count;

        if (count <= SHORT_LIST) {
                *ret_index = twin_of_short(&items, count);
                return 0;
        }
        order = ed_alloc(count * sizeof(*order));
        if (!order)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++)
                order[i] = i;
        sort(&items, order, count);
        for (size_t i = 1; i < count; i++)
                if (order[i] < twin && compare(&items, order[i - 1], order[i]) == 0)
                        twin = order[i];
        ed_free(order);
        *ret_index = twin;
        return 0;
}
