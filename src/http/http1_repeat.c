/*
 * http/http1_repeat.c - see http1_repeat.h.
 */
#include "http/http1_repeat.h"

#include <string.h>

#include "http/http1_answer.h"

static void arm(struct ed_http1_exchange *exchange)
{
        ed_timer_arm(&ed_loop_current->timers, &exchange->repeat_timer,
                     ed_time_after(eddy_now(), exchange->repeat_ns));
}

static void on_time(struct ed_timer *timer)
{
        struct ed_http1_exchange *exchange =
                ed_container_of(timer, struct ed_http1_exchange, repeat_timer);

        if (exchange->answer != ED_HTTP_ANSWERING || exchange->out_error < 0)
                return;
        ed_http1_answer_keep(exchange, exchange->repeated, strlen(exchange->repeated));
        arm(exchange);
}

void ed_http1_repeat(eddy_http_exchange *base, const char *piece, int64_t every_ns)
{
        struct ed_http1_exchange *exchange = ed_http1_exchange_of(base);

        ed_http1_repeat_stop(exchange);
        exchange->repeated = piece;
        exchange->repeat_ns = every_ns;
        ed_timer_init(&exchange->repeat_timer, on_time);
        arm(exchange);
}

void ed_http1_repeat_stop(struct ed_http1_exchange *exchange)
{
        ed_timer_cancel(&ed_loop_current->timers, &exchange->repeat_timer);
}
