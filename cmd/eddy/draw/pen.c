/*
 * draw/pen.c - elements of SVG.
 */
#include "draw/pen.h"

#include "draw/plain.h"
#include "report/html.h"

void ed_draw_svg_text(struct ed_draft *out, const struct ed_draft *text, unsigned characters)
{
        struct ed_draft plain = { 0 };

        ed_draw_plain_add(&plain, text->data, text->bytes, characters, false);
        ed_html_add(out, plain.data, plain.bytes);
        if (plain.failed || text->failed)
                out->failed = true;
        ed_draft_fini(&plain);
}

void ed_draw_pen_flush(struct ed_draw_pen *pen, unsigned characters)
{
        ed_draw_svg_text(pen->out, &pen->text, characters);
        ed_draft_reset(&pen->text, 4096);
}

static void attribute(struct ed_draft *out, const char *name, double value)
{
        ed_draft_add_printf(out, " %s=\"", name);
        ed_draw_px(out, value);
        ed_draft_add_str(out, "\"");
}

void ed_draw_pen_text(struct ed_draft *out, const char *class, double x, double y)
{
        ed_draft_add_printf(out, "<text class=\"%s\"", class);
        attribute(out, "x", x);
        attribute(out, "y", y);
        ed_draft_add_str(out, ">");
}

void ed_draw_pen_rect(struct ed_draft *out, const char *class, double x, double y, double width,
                      double height)
{
        ed_draft_add_printf(out, "<rect class=\"%s\"", class);
        attribute(out, "x", x);
        attribute(out, "y", y);
        attribute(out, "width", width);
        attribute(out, "height", height);
}

void ed_draw_pen_rule(struct ed_draft *out, const char *class, double x, double y1, double y2)
{
        ed_draft_add_printf(out, "<line class=\"%s\"", class);
        attribute(out, "x1", x);
        attribute(out, "x2", x);
        attribute(out, "y1", y1);
        attribute(out, "y2", y2);
        ed_draft_add_str(out, "/>");
}
