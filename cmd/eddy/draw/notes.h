/*
 * draw/notes.h - what a picture says in words: labels, the summary, causes, groups. No I/O.
 */
#ifndef ED_CMD_DRAW_NOTES_H
#define ED_CMD_DRAW_NOTES_H

#include <stdbool.h>

#include "common/draft.h"
#include "draw/picture.h"

/* Causes, groups and failures above this number are counted only. */
enum { ED_DRAW_NOTES_MAX = 12 };

/* Append the label of a line: "2 worker", "[scope 1]", "worker x 3,000". */
void ed_draw_line_add(struct ed_draft *out, const struct ed_draw_run *run,
                      const struct ed_draw_fold *fold, uint32_t line);

/* Append "run.json: 3 tasks, 1 scope, 22 events in 5.2 ms". */
void ed_draw_summary_add(struct ed_draft *out, const struct ed_draw_picture *picture,
                         bool is_ascii);

typedef void ed_draw_note_fn(void *arg, const struct ed_draft *note);

/* Call 'add' with each note: cancels and deadlines with what they stopped, failures, groups. */
void ed_draw_notes(const struct ed_draw_picture *picture, bool is_ascii, ed_draw_note_fn *add,
                   void *arg);

/* Append " and stops task 2 worker", or nothing if a cancel or a deadline stopped no task. */
void ed_draw_stopped_add(struct ed_draft *out, const struct ed_draw_run *run, uint32_t cause);

#endif
