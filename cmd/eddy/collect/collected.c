/*
 * collect/collected.c - sets of places, in a bit for each line of the input.
 */
#include "collect/collected.h"

#include <errno.h>

void ed_collected_init(struct ed_collected *collected)
{
        *collected = (struct ed_collected){ .end = 0 };
        ed_id_places_init(&collected->places);
}

void ed_collected_fini(struct ed_collected *collected)
{
        struct ed_bits *const sets[] = { &collected->requests, &collected->answered,
                                         &collected->found,    &collected->several,
                                         &collected->repeated, &collected->missing,
                                         &collected->lacking };

        ed_id_places_fini(&collected->places);
        for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
                ed_bits_fini(sets[i]);
}

int ed_collected_request(struct ed_collected *collected, const char *id, size_t bytes,
                         uint64_t place, bool is_empty)
{
        int err = ed_id_places_add(&collected->places, id, bytes, place);

        if (err < 0)
                return err;
        collected->end = place + 1;
        if (is_empty)
                return 0;
        err = ed_bits_add(&collected->requests, place);
        if (err < 0)
                return err;
        collected->requests_count++;
        return 0;
}

int ed_collected_seal(struct ed_collected *collected)
{
        struct ed_id_places_walk walk = { 0 };
        uint64_t place;
        int added;

        ed_id_places_seal(&collected->places);
        while ((place = ed_id_places_repeated(&collected->places, &walk)) > 0) {
                added = ed_bits_add(&collected->repeated, place);
                if (added < 0)
                        return added;
                collected->repeated_count++;
                collected->requests_count -= ed_bits_has(&collected->requests, place);
        }
        return 0;
}

int ed_collected_line(struct ed_collected *collected, const char *id, size_t bytes, bool is_answer,
                      uint64_t *ret_place)
{
        uint64_t place = ed_id_places_find(&collected->places, id, bytes);
        int added;

        *ret_place = place;
        if (place == ED_PLACE_NONE) {
                ed_sample_add(&collected->foreign, id, bytes);
                return 0;
        }
        collected->placed++;
        added = ed_bits_add(&collected->found, place);
        if (added < 0 || !is_answer)
                return added < 0 ? added : 0;
        added = ed_bits_add(&collected->answered, place);
        if (added < 0)
                return added;
        collected->answered_count += (uint64_t) added;
        if (added > 0) {
                added = ed_bits_add(&collected->requests, place);
                collected->requests_count += added > 0;
                return added < 0 ? added : 0;
        }
        added = ed_bits_add(&collected->several, place);
        if (added > 0)
                ed_sample_add(&collected->doubled, id, bytes);
        return added < 0 ? added : 0;
}

int ed_collected_failed(struct ed_collected *collected, const char *id, size_t bytes,
                        uint64_t place, enum ed_collected_failure failure)
{
        int added;

        if (!ed_bits_has(&collected->requests, place))
                return 0;
        if (failure == ED_COLLECTED_ACCEPTED) {
                collected->accepted_count++;
                return 1;
        }
        collected->failed_count++;
        ed_sample_add(&collected->failed, id, bytes);
        if (failure == ED_COLLECTED_FOR_GOOD) {
                collected->for_good_count++;
                return 1;
        }
        added = ed_bits_add(&collected->lacking, place);
        return added < 0 ? added : 1;
}

int ed_collected_end(struct ed_collected *collected)
{
        for (uint64_t place = 1; place < collected->end; place++) {
                if (!ed_bits_has(&collected->requests, place) ||
                    ed_bits_has(&collected->found, place) ||
                    ed_bits_has(&collected->repeated, place))
                        continue;
                if (ed_bits_add(&collected->missing, place) < 0 ||
                    ed_bits_add(&collected->lacking, place) < 0)
                        return -ENOMEM;
                collected->missing_count++;
        }
        return 0;
}

bool ed_collected_is_whole(const struct ed_collected *collected)
{
        return collected->answered_count + collected->accepted_count == collected->requests_count &&
               collected->doubled.count == 0 && collected->foreign.count == 0 &&
               collected->repeated_count == 0;
}
