/*
 * http/repeat.c - see repeat.h.
 */
#include "http/repeat.h"

#include "eddy/time.h"
#include "loop/loop.h"

static void arm(eddy_http_exchange *exchange)
{
        ed_timer_arm(&ed_loop_current->timers, &exchange->repeat_timer,
                     ed_time_after(eddy_now(), exchange->repeat_ns));
}

static void on_time(struct ed_timer *timer)
{
        eddy_http_exchange *exchange =
                ed_container_of(timer, struct eddy_http_exchange, repeat_timer);

        if (exchange->ops->keep(exchange, exchange->repeated, strlen(exchange->repeated)))
                arm(exchange);
}

void ed_http_repeat(eddy_http_exchange *exchange, const char *piece, int64_t every_ns)
{
        ed_http_repeat_stop(exchange);
        exchange->repeated = piece;
        exchange->repeat_ns = every_ns;
        ed_timer_init(&exchange->repeat_timer, on_time);
        arm(exchange);
}

void ed_http_repeat_stop(eddy_http_exchange *exchange)
{
        ed_timer_cancel(&ed_loop_current->timers, &exchange->repeat_timer);
}
