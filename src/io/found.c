/*
 * io/found.c - the order of addresses, and joining two parts of them.
 */
#include "io/found.h"

#include <string.h>
#include <sys/socket.h>

size_t ed_dns_order(const struct eddy_address *list, size_t n, uint16_t family,
                    struct eddy_address *ret_list, size_t max)
{
        size_t at[2] = { 0, 0 }; /* position in 'family', in the other one */
        size_t count = 0;
        int other = 0;

        while (count < max && (at[0] < n || at[1] < n)) {
                size_t *next = &at[other];

                while (*next < n && (list[*next].family != family) != other)
                        (*next)++;
                if (*next < n)
                        ret_list[count++] = list[(*next)++];
                other = !other;
        }
        return count;
}

void ed_found_put(struct ed_found *found, const struct eddy_address *addresses, size_t n)
{
        if (n > 0)
                memcpy(found->addresses, addresses, n * sizeof(*addresses));
        found->n = n;
}

void ed_found_join(struct ed_found *found, const struct eddy_address *addresses, size_t n)
{
        size_t tried = found->tried, left = found->n - tried;
        struct eddy_address list[ED_FOUND_MAX];
        uint16_t family = AF_INET6;

        if (n == 0)
                return;
        if (n > ED_FOUND_MAX - left)
                n = ED_FOUND_MAX - left;
        memcpy(list, found->addresses + tried, left * sizeof(*list));
        memcpy(list + left, addresses, n * sizeof(*list));
        if (tried > 0 && found->addresses[tried - 1].family == AF_INET6)
                family = AF_INET;
        found->n = tried + ed_dns_order(list, left + n, family, found->addresses + tried,
                                        ED_FOUND_MAX - tried);
}
