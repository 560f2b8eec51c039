/*
 * draw/picture.h - a run with its axis and its lines, ready to be drawn.
 */
#ifndef ED_CMD_DRAW_PICTURE_H
#define ED_CMD_DRAW_PICTURE_H

#include "draw/fold.h"
#include "draw/model.h"

enum { ED_DRAW_PICTURES_MAX = 2 };

struct ed_draw_picture {
        const char *title; /* the name of the file */
        struct ed_draw_run run;
        struct ed_draw_scale scale;
        struct ed_draw_fold fold;
        const struct ed_draw_picture *other; /* drawn above or below it; NULL: none */
        uint32_t difference; /* the first event that differs from the other picture */
};

#endif
