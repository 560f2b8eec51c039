/*
 * draw/draw.h - `eddy draw`: the timeline of a traced run.
 */
#ifndef ED_CMD_DRAW_DRAW_H
#define ED_CMD_DRAW_DRAW_H

/* Returns the exit code. */
int ed_draw_main(int argc, char **argv);

#endif
