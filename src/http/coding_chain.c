/*
 * http/coding_chain.c - see coding_chain.h.
 */
#include "http/coding_chain.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"

enum {
        STAGE_BYTES = 16 << 10,
        WORK_BYTES = 256 << 10, /* bytes between codings in one read, without output */
};

/* ---- names ----------------------------------------------------------------------- */

static const struct {
        const char *name;
        const struct ed_coding *coding; /* NULL: bytes are unchanged */
} names[] = {
        { "gzip", &ed_coding_gzip },       { "x-gzip", &ed_coding_gzip },
        { "deflate", &ed_coding_deflate }, { "br", &ed_coding_brotli },
        { "zstd", &ed_coding_zstd },       { "identity", NULL },
};

static int add_name(struct ed_coding_list *list, const char *name, size_t bytes)
{
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                if (strlen(names[i].name) != bytes || strncasecmp(names[i].name, name, bytes) != 0)
                        continue;
                if (!names[i].coding)
                        return 0;
                if (list->n == ED_CODING_CHAIN_MAX)
                        return EDDY_E_HTTP_CODING_UNKNOWN;
                list->codings[list->n++] = names[i].coding;
                return 0;
        }
        return EDDY_E_HTTP_CODING_UNKNOWN;
}

/* A list may have empty elements (RFC 9110, 5.6.1.2). */
int ed_coding_list_add(struct ed_coding_list *list, const char *value)
{
        for (;;) {
                const char *value_end;
                size_t bytes;
                int err;

                value += strspn(value, " \t,");
                bytes = strcspn(value, ",");
                value_end = value + bytes;
                while (bytes > 0 && (value[bytes - 1] == ' ' || value[bytes - 1] == '\t'))
                        bytes--;
                if (bytes == 0)
                        return 0;
                err = add_name(list, value, bytes);
                if (err < 0)
                        return err;
                value = value_end;
        }
}

/* ---- stages ---------------------------------------------------------------------- */

/* A coding, with the bytes that it has yet to decode. */
struct stage {
        const struct ed_coding *coding;
        void *state;
        bool has_begun; /* a byte came */
        bool has_ended; /* the coded data is complete; more may follow */
        bool has_output;
        unsigned empty; /* complete parts without output */
        uint64_t left;  /* bytes of output allowed */
        size_t at, end; /* bytes in 'in' */
        unsigned char in[STAGE_BYTES];
};

struct ed_coding_chain {
        unsigned n;
        struct stage *stages[ED_CODING_CHAIN_MAX]; /* the first takes the bytes of the message */
};

static struct stage *stage_new(const struct ed_coding *coding, uint64_t bytes_max)
{
        struct stage *stage = ed_alloc_zero(sizeof(*stage));

        if (!stage)
                return NULL;
        stage->coding = coding;
        stage->left = bytes_max;
        stage->state = coding->new ();
        if (!stage->state) {
                ed_free(stage);
                return NULL;
        }
        return stage;
}

static void stage_free(struct stage *stage)
{
        stage->coding->free(stage->state);
        ed_free(stage);
}

/* More bytes follow complete data. */
static int stage_restart(struct stage *stage)
{
        if (!stage->coding->restart)
                return EDDY_E_HTTP_CODING_INVALID;
        if (!stage->has_output && ++stage->empty > ED_CODING_CHAIN_EMPTY_MAX)
                return EDDY_E_HTTP_CODING_INVALID;
        stage->has_ended = stage->has_output = false;
        return stage->coding->restart(stage->state);
}

/* Decode bytes of 'in'. Returns the number of bytes written; 0: more input is needed. */
static int64_t stage_decode(struct stage *stage, void *buf, size_t bytes)
{
        struct ed_coding_step step = { .out = buf, .room = bytes };
        int err;

        for (;;) {
                size_t room = step.room, in_bytes = stage->end - stage->at;

                if (stage->has_ended) {
                        if (in_bytes == 0 || room == 0)
                                return (int64_t) (bytes - room);
                        err = stage_restart(stage);
                        if (err < 0)
                                return err;
                }
                step.in = stage->in + stage->at;
                step.in_bytes = in_bytes;
                err = stage->coding->step(stage->state, &step);
                if (err < 0)
                        return err;
                stage->has_begun = stage->has_begun || step.in_bytes < in_bytes;
                stage->has_output = stage->has_output || step.room < room;
                stage->has_ended = err == ED_CODING_ENDED;
                stage->at = stage->end - step.in_bytes;
                if (!stage->has_ended &&
                    (step.room == 0 || (step.room == room && step.in_bytes == in_bytes)))
                        return (int64_t) (bytes - step.room);
        }
}

static void *stage_room(struct stage *stage, size_t *ret_bytes)
{
        if (stage->at == stage->end)
                stage->at = stage->end = 0;
        *ret_bytes = STAGE_BYTES - stage->end;
        return stage->in + stage->end;
}

/* ---- the chain ------------------------------------------------------------------- */

struct ed_coding_chain *ed_coding_chain_new(const struct ed_coding_list *list, uint64_t bytes_max)
{
        struct ed_coding_chain *decoder = ed_alloc_zero(sizeof(*decoder));

        if (!decoder)
                return NULL;
        while (decoder->n < list->n) {
                struct stage *stage = stage_new(list->codings[list->n - 1 - decoder->n], bytes_max);

                if (!stage) {
                        ed_coding_chain_free(decoder);
                        return NULL;
                }
                decoder->stages[decoder->n++] = stage;
        }
        return decoder;
}

void ed_coding_chain_free(struct ed_coding_chain *decoder)
{
        if (!decoder)
                return;
        while (decoder->n > 0)
                stage_free(decoder->stages[--decoder->n]);
        ed_free(decoder);
}

void *ed_coding_chain_room(struct ed_coding_chain *decoder, size_t *ret_bytes)
{
        return stage_room(decoder->stages[0], ret_bytes);
}

void ed_coding_chain_fed(struct ed_coding_chain *decoder, size_t bytes)
{
        decoder->stages[0]->end += bytes;
}

/*
 * Read from stage 'i': decode, and while that needs more input, read from the stage before. '*work'
 * limits the bytes that pass between stages.
 */
static int64_t read_stage(struct ed_coding_chain *decoder, unsigned i, void *buf, size_t bytes,
                          size_t *work)
{
        struct stage *stage = decoder->stages[i];
        size_t room_bytes;
        void *room;
        int64_t n;

        while ((n = stage_decode(stage, buf, bytes)) == 0 && i > 0) {
                if (*work == 0)
                        return -EAGAIN;
                room = stage_room(stage, &room_bytes);
                n = read_stage(decoder, i - 1, room, room_bytes, work);
                if (n <= 0)
                        return n;
                stage->end += (size_t) n;
                *work -= *work < (size_t) n ? *work : (size_t) n;
        }
        if (n > 0 && (uint64_t) n > stage->left)
                return EDDY_E_HTTP_TOO_LARGE;
        stage->left -= n > 0 ? (uint64_t) n : 0;
        return n;
}

int64_t ed_coding_chain_read(struct ed_coding_chain *decoder, void *buf, size_t bytes)
{
        size_t work = WORK_BYTES;

        return read_stage(decoder, decoder->n - 1, buf, bytes, &work);
}

int ed_coding_chain_finish(const struct ed_coding_chain *decoder)
{
        if (!decoder->stages[0]->has_begun)
                return 0;
        for (unsigned i = 0; i < decoder->n; i++)
                if (!decoder->stages[i]->has_ended)
                        return EDDY_E_HTTP_CODING_INVALID;
        return 0;
}
