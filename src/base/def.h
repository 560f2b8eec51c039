/*
 * base/def.h - compiler attributes and assertions for all floors.
 */
#ifndef ED_BASE_DEF_H
#define ED_BASE_DEF_H

#include "eddy/def.h"

#define ed_likely(x)      __builtin_expect(!!(x), 1)
#define ed_unlikely(x)    __builtin_expect(!!(x), 0)
#define ed_array_count(a) (sizeof(a) / sizeof((a)[0]))

/* An internal name that a sibling library of libeddy uses (version node EDDY_PRIVATE). */
#define ED_SHARED __attribute__((visibility("default")))

/*
 * Report a broken invariant in one sentence (NULL: already reported) and abort. Never call this for
 * conditions that a caller or a peer can cause.
 */
ED_SHARED __attribute__((noreturn, cold)) void ed_broken(const char *sentence);

#define ed_assert(cond, sentence)                                                                  \
        do {                                                                                       \
                if (ed_unlikely(!(cond)))                                                          \
                        ed_broken(sentence);                                                       \
        } while (0)

#endif
