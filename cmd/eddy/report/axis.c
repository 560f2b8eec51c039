/*
 * report/axis.c - see axis.h.
 */
#include "report/axis.h"

#include <math.h>
#include <stdio.h>

/* Beyond these ranges, elapsed times are shown in the next larger unit. */
#define SECONDS_MAX_MS 120e3
#define MINUTES_MAX_MS (2 * 3600e3)
#define HOURS_MAX_MS   (3 * 86400e3)

/* A value that differs from a round number by less than this counts as that number. */
#define NEARLY 1e-9

static double power_below(double value)
{
        return pow(10, floor(log10(value) + NEARLY));
}

double ed_axis_round_down(double value)
{
        double power = power_below(value), digit = value / power + NEARLY;

        return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

double ed_axis_round_up(double value)
{
        double power = power_below(value), digit = value / power - NEARLY;

        return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void tick_add(struct ed_axis *axis, double tick)
{
        if (axis->count < ED_AXIS_TICKS_MAX)
                axis->ticks[axis->count++] = tick;
}

void ed_axis_linear(struct ed_axis *axis, enum ed_axis_unit unit, double max, unsigned ticks)
{
        double step = ed_axis_round_up((max > 0 ? max : 1) / ticks);
        double steps;

        if (unit == ED_AXIS_COUNT && step < 1)
                step = 1;
        steps = max > 0 ? ceil(max / step - NEARLY) : ticks;
        *axis = (struct ed_axis){ .unit = unit, .max = steps * step, .step = step };
        for (unsigned i = 0; i <= (unsigned) steps; i++)
                tick_add(axis, i * step);
}

/* Returns the smallest natural duration, in milliseconds, at or above 'least_ms'. */
static double step_of_time(double least_ms)
{
        static const double steps[] = { 1,    2,    5,          10,         15,          30,
                                        60,   120,  300,        600,        900,         1800,
                                        3600, 7200, 3 * 3600.0, 6 * 3600.0, 12 * 3600.0, 86400 };

        if (least_ms < 1000)
                return ed_axis_round_up(least_ms);
        for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
                if (steps[i] * 1000 >= least_ms)
                        return steps[i] * 1000;
        return ed_axis_round_up(least_ms / 86400e3) * 86400e3;
}

void ed_axis_elapsed(struct ed_axis *axis, int64_t max_ms, unsigned ticks)
{
        double max = max_ms > 0 ? (double) max_ms : 1;
        double step = step_of_time(max / ticks);

        *axis = (struct ed_axis){ .unit = ED_AXIS_ELAPSED, .max = max, .step = step };
        for (unsigned i = 0; i * step <= max * (1 + NEARLY); i++)
                tick_add(axis, i * step);
}

/* Add ticks at these digits of every 'nth' decade. Returns false if there are too many. */
static bool log_ticks(struct ed_axis *axis, const double *digits, unsigned n, int nth,
                      unsigned ticks)
{
        int from = (int) floor(log10(axis->min)), to = (int) ceil(log10(axis->max));

        axis->count = 0;
        for (int decade = from; decade <= to; decade++) {
                for (unsigned i = 0; decade % nth == 0 && i < n; i++) {
                        double tick = digits[i] * pow(10, decade);

                        if (tick < axis->min * (1 - NEARLY) || tick > axis->max * (1 + NEARLY))
                                continue;
                        if (axis->count == ticks)
                                return false;
                        tick_add(axis, tick);
                }
        }
        return true;
}

/* Add ticks at equal distances to a range that has fewer than two of the usual ticks. */
static void narrow_ticks(struct ed_axis *axis)
{
        double step = ed_axis_round_up((axis->max - axis->min) / 4);
        double first = ceil(axis->min / step - NEARLY);

        axis->count = 0;
        axis->step = step;
        for (unsigned i = 0; (first + i) * step <= axis->max * (1 + NEARLY) && i < 6; i++)
                tick_add(axis, (first + i) * step);
}

void ed_axis_log(struct ed_axis *axis, enum ed_axis_unit unit, double min, double max,
                 unsigned ticks)
{
        static const double fine[] = { 1, 1.5, 2, 3, 5, 7 }, usual[] = { 1, 2, 5 };

        if (ticks > ED_AXIS_TICKS_MAX)
                ticks = ED_AXIS_TICKS_MAX;
        *axis = (struct ed_axis){
                .unit = unit, .is_log = true, .min = min, .max = max > min ? max : min * 2
        };
        if (log_ticks(axis, usual, 3, 1, ticks)) {
                if (axis->count < 3)
                        (void) log_ticks(axis, fine, 6, 1, ticks);
                if (axis->count < 2)
                        narrow_ticks(axis);
                return;
        }
        for (int nth = 1; !log_ticks(axis, usual, 1, nth, ticks); nth++)
                continue;
}

double ed_axis_place(const struct ed_axis *axis, double value)
{
        double place;

        if (axis->is_log)
                place = value > 0 ? log(value / axis->min) / log(axis->max / axis->min) : 0;
        else
                place = (value - axis->min) / (axis->max - axis->min);
        return place > 0 ? place < 1 ? place : 1 : 0;
}

/* Returns the number of decimals that multiples of 'step' need. */
static int decimals_of(double step)
{
        int decimals = 0;

        for (; decimals < 6 && fabs(step - round(step)) > NEARLY; step *= 10)
                decimals++;
        return decimals;
}

/* Choose the unit of a magnitude. */
static double scale_of(enum ed_axis_unit unit, double magnitude, const char **ret_suffix)
{
        static const struct {
                double scale;
                const char *suffix;
        } times[] = { { 1e9, " s" }, { 1e6, " ms" }, { 1e3, " µs" } },
          numbers[] = { { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" } };

        magnitude *= 1 + NEARLY;
        *ret_suffix = unit == ED_AXIS_NS ? " µs" : "";
        if (unit == ED_AXIS_NS) {
                for (unsigned i = 0; i < 3; i++)
                        if (magnitude >= times[i].scale || i == 2) {
                                *ret_suffix = times[i].suffix;
                                return times[i].scale;
                        }
        }
        for (unsigned i = 0; i < 4; i++)
                if (magnitude >= numbers[i].scale) {
                        *ret_suffix = numbers[i].suffix;
                        return numbers[i].scale;
                }
        return 1;
}

static void elapsed_print(const struct ed_axis *axis, double tick_ms, char *text)
{
        unsigned long long s = (unsigned long long) (tick_ms / 1000 + 0.5);

        if (axis->max <= SECONDS_MAX_MS)
                snprintf(text, ED_AXIS_LABEL_BYTES, "%.*f", decimals_of(axis->step / 1000),
                         tick_ms / 1000);
        else if (axis->max <= MINUTES_MAX_MS)
                snprintf(text, ED_AXIS_LABEL_BYTES, "%llu:%02llu", s / 60, s % 60);
        else if (axis->max <= HOURS_MAX_MS)
                snprintf(text, ED_AXIS_LABEL_BYTES, "%llu:%02llu", s / 3600, s / 60 % 60);
        else
                snprintf(text, ED_AXIS_LABEL_BYTES, "%.*f", decimals_of(axis->step / 86400e3),
                         tick_ms / 86400e3);
}

const char *ed_axis_elapsed_unit(const struct ed_axis *axis)
{
        if (axis->max <= SECONDS_MAX_MS)
                return "seconds";
        if (axis->max <= MINUTES_MAX_MS)
                return "minutes:seconds";
        return axis->max <= HOURS_MAX_MS ? "hours:minutes" : "days";
}

void ed_axis_label(const struct ed_axis *axis, double tick, char text[ED_AXIS_LABEL_BYTES])
{
        const char *suffix;
        double scale;

        if (axis->unit == ED_AXIS_ELAPSED) {
                elapsed_print(axis, tick, text);
                return;
        }
        if (axis->step == 0) {
                scale = scale_of(axis->unit, tick, &suffix);
                snprintf(text, ED_AXIS_LABEL_BYTES, "%.4g%s", tick / scale, suffix);
                return;
        }
        scale = scale_of(axis->unit, axis->max, &suffix);
        if (tick == 0)
                snprintf(text, ED_AXIS_LABEL_BYTES, "0");
        else
                snprintf(text, ED_AXIS_LABEL_BYTES, "%.*f%s", decimals_of(axis->step / scale),
                         tick / scale, suffix);
}

void ed_axis_print(enum ed_axis_unit unit, double value, char text[ED_AXIS_LABEL_BYTES])
{
        const char *suffix;
        double scale = scale_of(unit, value, &suffix);
        double shown = value / scale;

        if (unit != ED_AXIS_NS && scale == 1 && value == floor(value))
                snprintf(text, ED_AXIS_LABEL_BYTES, "%.0f", value);
        else if (shown >= 1000)
                snprintf(text, ED_AXIS_LABEL_BYTES, "%.0f%s", shown, suffix);
        else
                snprintf(text, ED_AXIS_LABEL_BYTES, "%.3g%s", shown, suffix);
}
