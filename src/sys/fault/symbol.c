/*
 * sys/fault/symbol.c - callers, and the names of functions and places in the program.
 */
#include "sys/fault/symbol.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sys/libc.h"
#include "sys/sys.h"

/* A stack of 16 MiB cannot hold more callers; unused pages are not touched. */
enum { CALLERS_MAX = 1 << 20, CALLERS_SKIPPED_MAX = 16 };

bool ed_sys_called_from(const void *return_address)
{
        size_t bytes = CALLERS_MAX * sizeof(void *);
        bool found = false;
        void *memory, **frames;
        int n;

        if (!ED_HAS_BACKTRACE || ed_sys_map(bytes, &memory) < 0)
                return true;
        frames = memory;
        n = backtrace(frames, CALLERS_MAX);
        for (int i = 0; i < n && !found; i++)
                found = frames[i] == return_address;
        ed_sys_unmap(memory, bytes);
        return found || n == CALLERS_MAX;
}

int ed_sys_callers(const void *from, void **ret_frames, int max)
{
        void *frames[ED_FRAMES_MAX + CALLERS_SKIPPED_MAX];
        int n = backtrace(frames, (int) ed_array_count(frames)), begin = 0;

        for (int i = 0; i < n && begin == 0; i++)
                if (frames[i] == from)
                        begin = i;
        n = n - begin > max ? max : n - begin;
        if (n <= 0)
                return 0;
        memcpy(ret_frames, frames + begin, (size_t) n * sizeof(*frames));
        return n;
}

static bool has_name(const Dl_info *info)
{
        return info->dli_sname && strncmp(info->dli_sname, "ed_", 3) != 0;
}

bool ed_sys_is_inside(const void *address, const void *other)
{
        Dl_info info, others;

        if (!dladdr(address, &info) || has_name(&info))
                return false;
        return dladdr(other, &others) && info.dli_fbase == others.dli_fbase;
}

bool ed_sys_is_inside_named(const void *address, const char *name)
{
        const char *slash;
        Dl_info info;

        if (!dladdr(address, &info) || has_name(&info) || !info.dli_fname)
                return false;
        slash = strrchr(info.dli_fname, '/');
        return strncmp(slash ? slash + 1 : info.dli_fname, name, strlen(name)) == 0;
}

/* Cut the name rather than the offset, which is more useful. */
static void place_name(const char *name, size_t offset, char *buf, size_t bytes)
{
        char suffix[24];
        size_t length = (size_t) snprintf(suffix, sizeof(suffix), "+0x%zx", offset);

        snprintf(buf, bytes, "%.*s%s", bytes > length ? (int) (bytes - length - 1) : 0, name,
                 suffix);
}

void ed_sys_symbol(const void *address, char *buf, size_t bytes)
{
        const char *at = address, *slash;
        Dl_info info;

        if (!dladdr(address, &info) || !info.dli_fname) {
                snprintf(buf, bytes, "%p", address);
                return;
        }
        if (info.dli_sname && info.dli_saddr == address) {
                snprintf(buf, bytes, "%s", info.dli_sname);
                return;
        }
        if (info.dli_sname) {
                place_name(info.dli_sname, (size_t) (at - (const char *) info.dli_saddr), buf,
                           bytes);
                return;
        }
        slash = strrchr(info.dli_fname, '/');
        place_name(slash ? slash + 1 : info.dli_fname,
                   (size_t) (at - (const char *) info.dli_fbase), buf, bytes);
}

/* Returns false for mangled C++ names, which are not readable. */
static bool is_exported(const void *fn)
{
        Dl_info info;

        return dladdr(fn, &info) && info.dli_sname && info.dli_saddr == fn &&
               strncmp(info.dli_sname, "_Z", 2) != 0;
}

bool ed_sys_is_static(void)
{
        Dl_info info;

        return !dladdr(__func__, &info);
}

/* Returns false if the library that contains a text has been unloaded since. */
static bool is_loaded(const char *text)
{
        Dl_info info;

        return dladdr(text, &info) || ed_sys_is_static();
}

void ed_sys_function(const void *fn, const char *text, char *buf, size_t bytes)
{
        ed_sys_function_in(fn, text && is_loaded(text) ? text : NULL, buf, bytes);
}

void ed_sys_function_in(const void *fn, const char *text, char *buf, size_t bytes)
{
        const char *begin = NULL;
        size_t length = 0;

        if (text && !is_exported(fn))
                length = ed_text_function(text, &begin);
        if (length > 0)
                snprintf(buf, bytes, "%.*s", (int) (length < bytes ? length : bytes), begin);
        else
                ed_sys_symbol(fn, buf, bytes);
}
