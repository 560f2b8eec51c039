/*
 * batch/request/accept.c - sets of ids: those that the user names, and those of accepted failures.
 */
#include "batch/request/accept.h"

#include <errno.h>

#include "eddy/json.h"

/* Flags in the set of accepted failures. */
enum { AS_FINAL = ED_IDS_FAILED, BY_NAME = ED_IDS_ANSWERED };

static int found_make(struct ed_accept *accept)
{
        return accept->found ? 0 : ed_ids_new(&accept->found);
}

int ed_accept_all_finals(struct ed_accept *accept)
{
        accept->finals = true;
        return found_make(accept);
}

int ed_accept_all_named(struct ed_accept *accept)
{
        int err = found_make(accept);

        return err < 0 || accept->named ? err : ed_ids_new(&accept->named);
}

void ed_accept_fini(struct ed_accept *accept)
{
        ed_ids_free(accept->named);
        ed_ids_free(accept->found);
        *accept = (struct ed_accept){ 0 };
}

int ed_accept_name(struct ed_accept *accept, const char *id, size_t bytes)
{
        int flags = ed_ids_add(accept->named, id, bytes, 0, ED_IDS_FAILED, NULL);

        if (flags < 0)
                return flags;
        accept->named_count += flags == 0;
        return 0;
}

static bool is_named(const struct ed_accept *accept, const char *id, size_t bytes)
{
        return accept->named && ed_ids_flags(accept->named, id, bytes) != 0;
}

bool ed_accept_takes(const struct ed_accept *accept, const char *id, size_t bytes, bool is_final)
{
        return ed_accept_is_on(accept) &&
               ((accept->finals && is_final) || is_named(accept, id, bytes));
}

/* Returns true for a status that another attempt does not change, if neither key nor limit does. */
static bool status_is_final(int status)
{
        switch (status) {
        case 401:
        case 402:
        case 407:
        case 408:
        case 425:
        case 429:
                return false;
        default:
                return status >= 400 && status < 500;
        }
}

bool ed_accept_line_is_final(const struct ed_answer_seen *seen)
{
        struct eddy_json_value final;

        if (ed_answer_status_is_redirect(seen->status))
                return false;
        if (seen->meta.kind != EDDY_JSON_OBJECT ||
            eddy_json_get(&seen->meta, "final", &final) < 0 || final.kind != EDDY_JSON_BOOL)
                return status_is_final(seen->status);
        return *final.text == 't';
}

int ed_accept_note(struct ed_accept *accept, const struct ed_answer_seen *seen)
{
        unsigned flags = 0;
        int err;

        if (!ed_accept_is_on(accept))
                return 0;
        if (is_named(accept, seen->id, seen->id_bytes))
                flags |= BY_NAME;
        if (accept->finals && ed_accept_line_is_final(seen))
                flags |= AS_FINAL;
        ed_ids_remove(accept->found, seen->id, seen->id_bytes, AS_FINAL | BY_NAME);
        if (flags == 0)
                return 0;
        err = ed_ids_add(accept->found, seen->id, seen->id_bytes, seen->mark, flags, NULL);
        ed_ids_set_hash(accept->found, seen->id, seen->id_bytes, seen->mark);
        return err < 0 ? err : 0;
}

void ed_accept_settle(struct ed_accept *accept, bool has_answers)
{
        if (ed_accept_is_on(accept) && !has_answers)
                ed_ids_clear(accept->found, AS_FINAL);
}

void ed_accept_meet(struct ed_accept *accept, const char *id, size_t bytes)
{
        if (!accept || !is_named(accept, id, bytes) ||
            ed_ids_flags(accept->named, id, bytes) & ED_IDS_READ)
                return;
        accept->met_count += ed_ids_add(accept->named, id, bytes, 0, ED_IDS_READ, NULL) > 0;
}

bool ed_accept_knows(const struct ed_accept *accept, const char *id, size_t bytes)
{
        return ed_accept_is_on(accept) && ed_ids_flags(accept->found, id, bytes) != 0;
}

bool ed_accept_has(struct ed_accept *accept, const char *id, size_t bytes, uint64_t mark)
{
        bool same = true;

        if (!ed_accept_is_on(accept))
                return false;
        ed_accept_meet(accept, id, bytes);
        if (!ed_accept_knows(accept, id, bytes))
                return false;
        return ed_ids_add(accept->found, id, bytes, mark, 0, &same) > 0 && same;
}
