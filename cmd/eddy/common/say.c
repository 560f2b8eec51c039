/*
 * common/say.c - see say.h.
 */
#include "common/say.h"

#include "common/exit.h"

void ed_say(const struct ed_say *say, const char *format, ...)
{
        va_list args;

        if (!say->hear)
                return;
        va_start(args, format);
        say->hear(say->arg, ED_SAY_NOTE, format, args);
        va_end(args);
}

int ed_refuse(const struct ed_say *say, const char *format, ...)
{
        va_list args;

        if (!say->hear)
                return ED_EXIT_USAGE;
        va_start(args, format);
        say->hear(say->arg, ED_SAY_REFUSAL, format, args);
        va_end(args);
        return ED_EXIT_USAGE;
}
