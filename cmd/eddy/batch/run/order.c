/*
 * batch/run/order.c - see order.h.
 */
#include "batch/run/order.h"

#include <errno.h>
#include <string.h>

#include "eddy/alloc.h"

int ed_order_init(struct ed_order *order, uint32_t room)
{
        *order = (struct ed_order){ .turns = eddy_malloc(room * sizeof(eddy_event *)),
                                    .room = room };
        if (!order->turns)
                return -ENOMEM;
        memset(order->turns, 0, room * sizeof(eddy_event *));
        return 0;
}

void ed_order_fini(struct ed_order *order)
{
        eddy_free(order->turns);
        order->turns = NULL;
}

static eddy_event **turn_of(struct ed_order *order, uint64_t number)
{
        return &order->turns[number % order->room];
}

uint64_t ed_order_add(struct ed_order *order, eddy_event *turn)
{
        uint64_t number = order->begun++;

        if (!order->turns)
                return number;
        *turn_of(order, number) = turn;
        if (order->next == number)
                eddy_event_set(turn);
        return number;
}

void ed_order_pass(struct ed_order *order, uint64_t number)
{
        if (!order->turns)
                return;
        *turn_of(order, number) = NULL;
        while (order->next < order->begun && !*turn_of(order, order->next))
                order->next++;
        if (order->next < order->begun)
                eddy_event_set(*turn_of(order, order->next));
}

void ed_order_end(struct ed_order *order)
{
        for (uint64_t i = order->next; order->turns && i < order->begun; i++)
                if (*turn_of(order, i))
                        eddy_event_set(*turn_of(order, i));
}
