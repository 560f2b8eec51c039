/*
 * draw/opts.h - options of `eddy draw`.
 */
#ifndef ED_CMD_DRAW_OPTS_H
#define ED_CMD_DRAW_OPTS_H

#include <stdint.h>

#include "draw/picture.h"
#include "eddy/def.h"

enum ed_draw_format { ED_DRAW_TEXT, ED_DRAW_SVG, ED_DRAW_HTML };

enum ed_draw_axis { ED_DRAW_AXIS_AUTO, ED_DRAW_AXIS_TIME, ED_DRAW_AXIS_ORDER };

struct ed_draw_opts {
        const char *files[ED_DRAW_PICTURES_MAX];
        unsigned files_count;
        const char *output; /* "-": standard output */
        enum ed_draw_format format;
        enum ed_draw_axis axis;
        uint32_t width; /* 0: not given */
};

/* Returns 0, or 1 if the program ends with '*ret_exit'. */
EDDY_MUST_USE int ed_draw_opts_parse(struct ed_draw_opts *opts, int argc, char **argv,
                                     int *ret_exit);

#endif
