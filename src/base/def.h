/*
 * base/def.h - words of the compiler that all floors use.
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
 * A broken invariant: says which in one sentence (NULL: it was reported) and
 * aborts.  Never for what a caller or a peer can bring about.
 */
ED_SHARED __attribute__((noreturn, cold)) void ed_broken(const char *sentence);

#define ed_assert(cond, sentence)                                                                  \
        do {                                                                                       \
                if (ed_unlikely(!(cond)))                                                          \
                        ed_broken(sentence);                                                       \
        } while (0)

#endif
