/*
 * common/show.h - shows the progress of a run on stderr while it runs.
 */
#ifndef ED_CMD_COMMON_SHOW_H
#define ED_CMD_COMMON_SHOW_H

#include <stdint.h>

#include "common/stats.h"
#include "eddy/scope.h"

enum ed_show_mode {
        ED_SHOW_AUTO,
        ED_SHOW_BAR,   /* a line that overwrites itself */
        ED_SHOW_PLAIN, /* a line every ten seconds */
        ED_SHOW_JSON,  /* a line of JSON every ten seconds */
        ED_SHOW_OFF,
};

struct ed_show {
        enum ed_show_mode mode;
        const struct ed_stats *stats;
        /* Returns the number of requests, or an estimate, or 0 if it is unknown. */
        uint64_t (*total)(const void *arg);
        /* Appends the command's own text to each line, such as " | paused 3s"; if 'is_json', JSON
         * members, each after a comma. NULL: nothing */
        void (*more)(const void *arg, bool is_json, struct ed_draft *line);
        /* Returns when the present pause of all requests ends, or 0. NULL: requests never pause */
        int64_t (*resume)(const void *arg);
        const void *arg;
};

/* Returns 'mode', or the mode that AUTO means for results in 'output' (NULL: standard output). */
enum ed_show_mode ed_show_choose(enum ed_show_mode mode, const char *output);

/* Start a task in 'scope' that shows the progress until the scope is cancelled. */
void ed_show_start(struct ed_show *show, eddy_scope *scope);

/* Returns the time between two lines. */
int64_t ed_show_interval(enum ed_show_mode mode);

/* Make a line one that overwrites itself on the terminal, and cut it to the terminal's columns. */
void ed_show_over(struct ed_draft *line);
/* Remove such a line from the terminal. */
void ed_show_clear(void);

/* Print the line now. */
void ed_show_now(const struct ed_show *show);

#endif
