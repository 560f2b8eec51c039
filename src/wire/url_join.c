/*
 * wire/url_join.c - resolves a reference (RFC 3986, 5.2).
 */
#include <stdbool.h>
#include <string.h>

#include "eddy/error.h"
#include "wire/url_sink.h"
#include "wire/url_split.h"

/*
 * A path that is merged from two pieces (5.2.3). 'folder' is absent, or ends in '/', and has no other
 * relation to 'rest'.
 */
struct merged {
        struct eddy_url_part folder;
        struct eddy_url_part rest;
};

struct target {
        struct eddy_url_part scheme, authority, query, fragment;
        struct merged path;
        bool keeps_dots;
};

/* ---- dot segments ---------------------------------------------------------------------------- */

/* Remove "./" and "../" at the start (5.2.4, 2A). */
static void prefix_cut(struct eddy_url_part *part)
{
        while (part->bytes >= 2 && part->text[0] == '.') {
                size_t dots = part->text[1] == '.' ? 2 : 1;

                if (part->bytes <= dots || part->text[dots] != '/')
                        return;
                part->text += dots + 1;
                part->bytes -= dots + 1;
        }
}

static bool is_dots(const char *text, size_t bytes)
{
        return (bytes == 1 || bytes == 2) && text[0] == '.' && text[bytes - 1] == '.';
}

/* Walks over the segments from the last to the first, so that ".." removes what is still to come. */
struct walk {
        char *end; /* of the room; NULL: only count */
        size_t bytes;
        size_t removed; /* segments that ".." still has to remove */
        bool is_last;
        bool has_slash; /* the text so far begins with '/' */
        bool has_two;   /* with "//" */
};

/* A segment with the slash before it. */
static void segment_write(struct walk *walk, const char *text, size_t bytes, bool has_slash)
{
        walk->has_two = has_slash && bytes == 0 && walk->has_slash;
        walk->has_slash = has_slash;
        walk->bytes += bytes + has_slash;
        if (!walk->end)
                return;
        memcpy(walk->end - walk->bytes + has_slash, text, bytes);
        if (has_slash)
                walk->end[-(ptrdiff_t) walk->bytes] = '/';
}

/* 'follows' means that a slash is before the first segment of the piece. */
static void piece_walk(struct walk *walk, struct eddy_url_part piece, bool follows)
{
        while (piece.bytes > 0) {
                const char *slash = memrchr(piece.text, '/', piece.bytes);
                const char *segment = slash ? slash + 1 : piece.text;
                size_t bytes = piece.bytes - (size_t) (segment - piece.text);

                if (is_dots(segment, bytes)) {
                        walk->removed += bytes - 1;
                        /* The last segment is then empty: "/a/." means "/a/". */
                        if (walk->is_last)
                                segment_write(walk, segment, 0, true);
                } else if (walk->removed > 0) {
                        walk->removed--;
                } else {
                        segment_write(walk, segment, bytes, slash || follows);
                }
                walk->is_last = false;
                piece.bytes = slash ? (size_t) (slash - piece.text) : 0;
        }
}

/* Write the path without dot segments (5.2.4), backwards from 'end'. */
static struct walk path_walk(struct merged path, char *end)
{
        struct walk walk = { .end = end, .is_last = true };
        bool has_folder;

        prefix_cut(&path.folder);
        has_folder = path.folder.bytes > 0;
        if (!has_folder) {
                prefix_cut(&path.rest);
                if (is_dots(path.rest.text, path.rest.bytes))
                        return walk; /* 2D */
        }
        piece_walk(&walk, path.rest, has_folder);
        if (has_folder) {
                path.folder.bytes--;
                piece_walk(&walk, path.folder, false);
        }
        return walk;
}

/* ---- the target ------------------------------------------------------------------------------ */

static void path_write(struct ed_url_sink *sink, const struct target *target)
{
        struct walk walk;

        if (target->keeps_dots) {
                ed_url_sink_add(sink, target->path.rest.text, target->path.rest.bytes);
                return;
        }
        walk = path_walk(target->path, NULL);
        if (walk.has_two && !target->authority.text)
                ed_url_sink_add(sink, "/.", 2);
        sink->bytes += walk.bytes;
        if (sink->out)
                (void) path_walk(target->path, sink->out + sink->bytes);
}

static void part_write(struct ed_url_sink *sink, const char *mark, size_t mark_bytes,
                       struct eddy_url_part part)
{
        if (!part.text)
                return;
        ed_url_sink_add(sink, mark, mark_bytes);
        ed_url_sink_add(sink, part.text, part.bytes);
}

/* 5.3 */
static void target_write(struct ed_url_sink *sink, const void *arg)
{
        const struct target *target = arg;

        part_write(sink, "", 0, target->scheme);
        ed_url_sink_char(sink, ':');
        part_write(sink, "//", 2, target->authority);
        path_write(sink, target);
        part_write(sink, "?", 1, target->query);
        part_write(sink, "#", 1, target->fragment);
}

/* Returns a path up to its last slash; of a host without a path, it is "/" (5.2.3). */
static struct eddy_url_part folder_of(const struct eddy_url *base)
{
        const char *slash = memrchr(base->path.text, '/', base->path.bytes);

        if (base->path.bytes == 0 && base->host.text)
                return (struct eddy_url_part){ "/", 1 };
        if (!slash)
                return (struct eddy_url_part){ NULL, 0 };
        return (struct eddy_url_part){ base->path.text, (size_t) (slash - base->path.text) + 1 };
}

/* 5.2.2, strict */
static struct target target_find(const struct eddy_url *base, struct eddy_url_part base_authority,
                                 const struct eddy_url *reference, struct eddy_url_part authority)
{
        struct target target = { .scheme = base->scheme,
                                 .authority = base_authority,
                                 .query = reference->query,
                                 .fragment = reference->fragment,
                                 .path.rest = reference->path };

        if (reference->scheme.text) {
                target.scheme = reference->scheme;
                target.authority = authority;
        } else if (authority.text) {
                target.authority = authority;
        } else if (reference->path.bytes == 0) {
                target.path.rest = base->path;
                target.keeps_dots = true;
                if (!reference->query.text)
                        target.query = base->query;
        } else if (reference->path.text[0] != '/') {
                target.path.folder = folder_of(base);
        }
        return target;
}

int64_t eddy_url_join(const char *base, const char *reference, char *out, size_t room)
{
        struct eddy_url from, to;
        struct eddy_url_part from_authority, to_authority;
        struct target target;
        int err = eddy_url_parse(base, strlen(base), &from);

        if (err == 0)
                err = ed_url_split(base, strlen(base), &from, &from_authority);
        if (err == 0)
                err = ed_url_split(reference, strlen(reference), &to, &to_authority);
        if (err < 0 || !from.scheme.text)
                return EDDY_E_URL_INVALID;
        target = target_find(&from, from_authority, &to, to_authority);
        if (ed_url_sink_store(target_write, &target, NULL, 0) > EDDY_URL_BYTES_MAX)
                return EDDY_E_URL_INVALID;
        return ed_url_sink_store(target_write, &target, out, room);
}
