/*
 * batch/run/order.h - lets requests write their lines in the order of the input (--ordered): each
 * waits for its turn. No I/O.
 */
#ifndef ED_CMD_BATCH_RUN_ORDER_H
#define ED_CMD_BATCH_RUN_ORDER_H

#include <stdint.h>

#include "eddy/def.h"
#include "eddy/event.h"

struct ed_order {
        eddy_event **turns; /* a ring of the requests without a line; NULL: in any order */
        uint32_t room;      /* of the ring */
        uint64_t begun;     /* requests so far */
        uint64_t next;      /* the number of the request with the next line, from 0 */
};

/* Order requests, of which at most 'room' have no line. Errors: -ENOMEM */
EDDY_MUST_USE int ed_order_init(struct ed_order *order, uint32_t room);
void ed_order_fini(struct ed_order *order);

/*
 * A request begins: 'turn' (borrowed until ed_order_pass()) is set once all requests before it have
 * passed. Returns its number.
 */
uint64_t ed_order_add(struct ed_order *order, eddy_event *turn);

/* A request has its line, or was abandoned: let the next line be written. */
void ed_order_pass(struct ed_order *order, uint64_t number);

/* Give all requests their turn, because the run ends: an answer is worth more than the order. */
void ed_order_end(struct ed_order *order);

#endif
