/*
 * base/error.c - names and texts of errors, and the abort on a broken invariant.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/def.h"
#include "base/errno_names.h"
#include "eddy/error.h"

static const struct {
        int value;
        const char *name;
        const char *text;
} table[] = {
#define ERROR_ROW(facility, number, name, text)                                                    \
        { EDDY_E_##facility##_##name, "EDDY_E_" #facility "_" #name, text },
        EDDY_ERRORS(ERROR_ROW)
#undef ERROR_ROW
};

static const char *const system_names[] = {
#define ERRNO_ROW(name) [name] = #name
        ED_ERRNO_NAMES(ERRNO_ROW)
#undef ERRNO_ROW
};

/* Returns NULL if the system has no such error. */
static const char *system_name(int number)
{
        return number > 0 && (size_t) number < ed_array_count(system_names) ? system_names[number]
                                                                            : NULL;
}

/* glibc's function returns English text in every locale; musl has no such function. */
extern const char *strerrordesc_np(int number) __attribute__((weak));

static const char *system_text(int number)
{
        return strerrordesc_np ? strerrordesc_np(number) : strerror(number);
}

const char *eddy_error_name(int error)
{
        const char *name;

        if (error >= 0)
                return "OK";
        for (size_t i = 0; i < ed_array_count(table); i++)
                if (table[i].value == error)
                        return table[i].name;
        name = error > -4096 ? system_name(-error) : NULL;
        return name ? name : "UNKNOWN";
}

const char *eddy_error_text(int error)
{
        const char *text;

        if (error >= 0)
                return "no error";
        if (error == -ECANCELED)
                return "the scope was cancelled";
        if (error == -ETIMEDOUT)
                return "the deadline passed";
        for (size_t i = 0; i < ed_array_count(table); i++)
                if (table[i].value == error)
                        return table[i].text;
        text = error > -4096 && system_name(-error) ? system_text(-error) : NULL;
        return text ? text : "unknown error";
}

int eddy_error_facility(int error)
{
        for (size_t i = 0; i < ed_array_count(table); i++) {
                int facility = -table[i].value & ~0xff;

                if (error <= -facility && error > -facility - 0x100)
                        return facility;
        }
        return 0;
}

void ed_broken(const char *sentence)
{
        if (sentence)
                fprintf(stderr, "eddy: %s\n", sentence);
        abort();
}
