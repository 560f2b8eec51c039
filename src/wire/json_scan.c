/*
 * wire/json_scan.c - check a text by the grammar of RFC 8259, and write it without white space.
 *
 * The text is read once. Nested arrays and objects are a stack of bits, so the scan neither
 * recurses nor allocates. Compacting copies runs: all bytes between two pieces of white space.
 *
 * The functions below return the first byte after what they scanned, or NULL if it is wrong; the
 * details are in 'scan' then. The position is an argument and not a member of 'scan', because a
 * compiler keeps it in a register then.
 */
#include <string.h>

#include "base/utf8.h"
#include "eddy/error.h"
#include "wire/json.h"
#include "wire/json_lanes.h"

enum { SHORT_ROW = 3 }; /* numbers in an array that are not worth a block */

struct scan {
        const ed_byte *text;
        const ed_byte *end;
        ed_byte *out;       /* NULL: only check */
        const ed_byte *run; /* the first byte that is not copied yet */
        const ed_byte *wrong;
        const char *what;
        int error;
        uint32_t depth;
        uint32_t depth_max;
        uint64_t objects[EDDY_JSON_DEPTH_MAX / 64]; /* by depth; 0: an array */
};

__attribute__((noinline, cold)) static const ed_byte *fail(struct scan *scan, const ed_byte *at,
                                                           int error, const char *what)
{
        scan->wrong = at;
        scan->error = at < scan->end ? error : EDDY_E_JSON_TRUNCATED;
        scan->what = what;
        return NULL;
}

/* Copy bytes in blocks; may write up to 15 bytes more, which are before out + (end - from). */
static inline ed_byte *copy_run(ed_byte *out, const ed_byte *from, size_t bytes, const ed_byte *end)
{
        if ((size_t) (end - from) >= bytes + ED_JSON_LANES && bytes <= 4 * ED_JSON_LANES)
                for (size_t i = 0; i < bytes; i += ED_JSON_LANES)
                        memcpy(out + i, from + i, ED_JSON_LANES);
        else
                memcpy(out, from, bytes);
        return out + bytes;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

__attribute__((noinline)) static const ed_byte *skip_some_space(struct scan *scan,
                                                                const ed_byte *at, bool copies)
{
        const ed_byte *from = at;

        at = ed_json_space_run(at, scan->end);
        if (copies && at > from) {
                scan->out = copy_run(scan->out, scan->run, (size_t) (from - scan->run), scan->end);
                scan->run = at;
        }
        return at;
}

/* Most texts have no space, so this part is where it is used. */
static inline const ed_byte *skip_space(struct scan *scan, const ed_byte *at, bool copies)
{
        return at == scan->end || *at > ' ' ? at : skip_some_space(scan, at, copies);
}

/* The bytes that make an escape with the backslash before them. */
static const bool escapes[256] = { ['"'] = true, ['\\'] = true, ['/'] = true, ['b'] = true,
                                   ['f'] = true, ['n'] = true,  ['r'] = true, ['t'] = true };

/* An escape that is not one of those, after its backslash. */
static const ed_byte *scan_unicode(struct scan *scan, const ed_byte *at)
{
        const char *what = "four hexadecimal digits expected after \\u";

        if (at == scan->end)
                return fail(scan, at, EDDY_E_JSON_STRING,
                            "a character expected after the backslash");
        if (*at != 'u')
                return fail(scan, at, EDDY_E_JSON_STRING,
                            "a backslash is followed by one of \"\\/bfnrtu");
        at++;
        for (int i = 0; i < 4; i++, at++) {
                if (at == scan->end ||
                    !((*at >= '0' && *at <= '9') || ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'f')))
                        return fail(scan, at, EDDY_E_JSON_STRING, what);
        }
        return at;
}

/* The bytes above 0x7F at 'at'. */
static const ed_byte *scan_utf8(struct scan *scan, const ed_byte *at)
{
        do {
                size_t n = ed_utf8_length(at, (size_t) (scan->end - at));

                if (n == 0)
                        return fail(scan, at, EDDY_E_JSON_UTF8, "the string is not UTF-8");
                at += n;
        } while (at < scan->end && *at >= 0x80);
        return at;
}

/* Returns the bits after runs of backslashes of odd length: what they escape. Bit 63 is not set. */
static inline uint64_t escaped_by(uint64_t slashes)
{
        const uint64_t even = UINT64_C(0x5555555555555555);
        uint64_t firsts = slashes & ~(slashes << 1);
        /* The sum of a run and its first bit has the bit after the run. */
        uint64_t after_even = (slashes + (firsts & even)) & ~slashes;
        uint64_t after_odd = (slashes + (firsts & ~even)) & ~slashes;

        return (after_even & ~even) | (after_odd & even);
}

/*
 * Skip bytes of a string as they are, and in long strings the usual escapes too. Returns the first
 * byte that is something else, or 'end'.
 */
static inline const ed_byte *text_run(const ed_byte *at, const ed_byte *end)
{
        uint32_t near = end - at >= ED_JSON_LANES ? ed_json_plain_stops(at, '"') : 0;

        if (near)
                return at + __builtin_ctz(near);
        while (end - at >= ED_JSON_BLOCK) {
                struct ed_block block = ed_block_at(at);
                uint64_t quotes = ed_block_is(&block, '"'), slashes = ed_block_is(&block, '\\');
                uint64_t stops = ed_block_below(&block, ' ');

                if (slashes >> 63) {
                        stops |= slashes; /* it may escape a byte of the next block */
                } else if (slashes) {
                        uint64_t escaped = escaped_by(slashes);
                        uint64_t usual = quotes | ed_block_is(&block, 'n') |
                                         ed_block_is(&block, 't') | ed_block_is(&block, 'r') |
                                         ed_block_is(&block, '/');

                        stops |= (escaped & ~usual) >> 1;
                        quotes &= ~escaped;
                }
                stops |= quotes;
                if (stops)
                        return at + __builtin_ctzll(stops);
                at += ED_JSON_BLOCK;
        }
        return ed_json_plain_run(at, end, '"');
}

/* A string, after its first quote. */
static inline const ed_byte *scan_string(struct scan *scan, const ed_byte *at)
{
        const ed_byte *end = scan->end;

        while (at) {
                at = text_run(at, end);
                if (at == end)
                        return fail(scan, at, EDDY_E_JSON_STRING, "a string needs a closing quote");
                if (*at == '"')
                        return at + 1;
                if (*at == '\\' && end - at > 1 && escapes[at[1]])
                        at += 2;
                else if (*at == '\\')
                        at = scan_unicode(scan, at + 1);
                else if (*at >= 0x80)
                        at = scan_utf8(scan, at);
                else
                        return fail(scan, at, EDDY_E_JSON_STRING,
                                    "a control character in a string must be escaped");
        }
        return NULL;
}

/* At least one digit. */
static inline const ed_byte *scan_digits(struct scan *scan, const ed_byte *at)
{
        const ed_byte *from = at;

        while (at < scan->end && ed_json_is_digit(*at))
                at++;
        return at > from ? at : fail(scan, at, EDDY_E_JSON_NUMBER, "a digit expected in a number");
}

static inline const ed_byte *scan_number(struct scan *scan, const ed_byte *at)
{
        const ed_byte *end = scan->end;

        at += *at == '-';
        if (at < end && *at == '0') {
                at++;
                if (at < end && ed_json_is_digit(*at))
                        return fail(scan, at, EDDY_E_JSON_NUMBER, "a number with a leading zero");
        } else {
                at = scan_digits(scan, at);
        }
        if (at && at < end && *at == '.')
                at = scan_digits(scan, at + 1);
        if (at && at < end && (*at | 0x20) == 'e') {
                at++;
                at += at < end && (*at == '+' || *at == '-');
                at = scan_digits(scan, at);
        }
        return at;
}

/* Copy numbers and their commas, without the white space between them. */
static void copy_numbers(struct scan *scan, const ed_byte *at, uint64_t starts, uint64_t commas)
{
        scan->out = copy_run(scan->out, scan->run, (size_t) (at - scan->run), scan->end);
        for (; commas; starts &= starts - 1, commas &= commas - 1) {
                const ed_byte *from = at + __builtin_ctzll(starts);

                scan->run = at + __builtin_ctzll(commas) + 1;
                scan->out = copy_run(scan->out, from, (size_t) (scan->run - from), scan->end);
        }
}

/*
 * Numbers of an array, each with its comma, a block at a time: without an exponent, and with spaces
 * and line feeds only before them. 'at' is after a comma. Returns the begin of the first other item,
 * which may be a number too.
 */
static const ed_byte *scan_numbers(struct scan *scan, const ed_byte *at, bool copies)
{
        while (scan->end - at >= ED_JSON_BLOCK) {
                struct ed_block block = ed_block_at(at);
                uint64_t digits = ed_block_below(&block, '9' + 1) & ~ed_block_below(&block, '0');
                uint64_t minuses = ed_block_is(&block, '-'), points = ed_block_is(&block, '.');
                uint64_t spaces = ed_block_is(&block, ' ') | ed_block_is(&block, '\n');
                uint64_t commas = ed_block_is(&block, ',');
                /* The sum of a run and its first bit has the bit after the run. */
                uint64_t starts = (spaces + (commas << 1 | 1)) & ~spaces;
                uint64_t integers = (starts & ~minuses) | (starts & minuses) << 1;
                uint64_t fractions = points << 1;
                uint64_t after_integers = (digits + integers) & ~digits;
                uint64_t after_fractions = (digits + fractions) & ~digits;
                uint64_t ends = (after_integers & ~points) | after_fractions;
                uint64_t wrong = ~(digits | minuses | points | spaces | commas);

                wrong |= (integers | fractions) & ~digits;
                wrong |= (integers & ed_block_is(&block, '0')) << 1 & digits;
                wrong |= ends ^ commas;
                /* Carries only go up: all before the first wrong bit is right. */
                commas &= (wrong & -wrong) - 1;
                if (!commas)
                        return at;
                if (copies && spaces)
                        copy_numbers(scan, at, starts, commas);
                at += ED_JSON_BLOCK - __builtin_clzll(commas);
        }
        return at;
}

static const ed_byte *scan_word(struct scan *scan, const ed_byte *at, const char *word)
{
        for (; *word; word++, at++)
                if (at == scan->end || *at != (ed_byte) *word)
                        return fail(scan, at, EDDY_E_JSON_SYNTAX, "true, false or null expected");
        return at;
}

static const ed_byte *fail_value(struct scan *scan, const ed_byte *at)
{
        if (scan->end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
                return fail(scan, at, EDDY_E_JSON_SYNTAX, "a byte order mark is not allowed");
        if (at < scan->end && (*at == '+' || *at == '.'))
                return fail(scan, at, EDDY_E_JSON_NUMBER, "a number begins with a digit or -");
        return fail(scan, at, EDDY_E_JSON_SYNTAX, "a value expected");
}

/* ---- the grammar ----------------------------------------------------------------------------- */

static inline bool in_object(const struct scan *scan)
{
        return scan->objects[(scan->depth - 1) / 64] >> ((scan->depth - 1) % 64) & 1;
}

static const ed_byte *push(struct scan *scan, const ed_byte *at, bool is_object)
{
        uint64_t bit = (uint64_t) 1 << (scan->depth % 64);
        uint64_t *word = &scan->objects[scan->depth / 64];

        if (scan->depth == scan->depth_max)
                return fail(scan, at, EDDY_E_JSON_DEPTH,
                            "more nested arrays and objects than allowed");
        *word = is_object ? *word | bit : *word & ~bit;
        scan->depth++;
        return at + 1;
}

/* A member's name and its colon. */
static inline const ed_byte *scan_name(struct scan *scan, const ed_byte *at, bool copies)
{
        at = skip_space(scan, at, copies);
        if (at == scan->end || *at != '"')
                return fail(scan, at, EDDY_E_JSON_SYNTAX, "a name in quotes expected");
        at = scan_string(scan, at + 1);
        if (!at)
                return NULL;
        at = skip_space(scan, at, copies);
        if (at == scan->end || *at != ':')
                return fail(scan, at, EDDY_E_JSON_SYNTAX, "':' expected after a name");
        return at + 1;
}

/*
 * A value that has no members and items, or the begin of the others: '*ret_opened' is set to whether
 * a member or item follows.
 */
static inline const ed_byte *scan_value(struct scan *scan, const ed_byte *at, bool copies,
                                        bool *ret_opened)
{
        ed_byte c;

        *ret_opened = false;
        at = skip_space(scan, at, copies);
        c = at < scan->end ? *at : 0;
        if (c == '"')
                return scan_string(scan, at + 1);
        if (c == '-' || ed_json_is_digit(c))
                return scan_number(scan, at);
        if (c == '{' || c == '[') {
                at = push(scan, at, c == '{');
                if (!at)
                        return NULL;
                at = skip_space(scan, at, copies);
                if (at < scan->end && *at == c + 2) { /* "{}" and "[]" are two apart in ASCII */
                        scan->depth--;
                        return at + 1;
                }
                *ret_opened = true;
                return at;
        }
        if (c == 't' || c == 'f' || c == 'n')
                return scan_word(scan, at, c == 't' ? "true" : c == 'f' ? "false" : "null");
        return fail_value(scan, at);
}

static inline const ed_byte *scan_text(struct scan *scan, const ed_byte *at, bool copies)
{
        unsigned row = 0; /* of numbers */
        bool opened;

        do {
                if (scan->depth > 0 && in_object(scan))
                        at = scan_name(scan, at, copies);
                if (at)
                        at = scan_value(scan, at, copies, &opened);
                /* The ends of all arrays and objects that end here. */
                while (at && !opened && scan->depth > 0) {
                        at = skip_space(scan, at, copies);
                        if (at < scan->end && *at == ',') {
                                at++;
                                row = ed_json_is_digit(at[-2]) && !in_object(scan) ? row + 1 : 0;
                                if (row > SHORT_ROW)
                                        at = scan_numbers(scan, at, copies);
                                break;
                        }
                        if (at == scan->end || *at != (in_object(scan) ? '}' : ']'))
                                return fail(scan, at, EDDY_E_JSON_SYNTAX,
                                            in_object(scan) ? "',' or '}' expected after a member"
                                                            : "',' or ']' expected after an item");
                        at++;
                        scan->depth--;
                }
        } while (at && scan->depth > 0);
        if (!at)
                return NULL;
        at = skip_space(scan, at, copies);
        return at == scan->end
                       ? at
                       : fail(scan, at, EDDY_E_JSON_SYNTAX, "the text continues after its value");
}

/* ---- the calls ------------------------------------------------------------------------------- */

static int scan_begin(struct scan *scan, const char *text, size_t bytes, char *out,
                      const struct eddy_json_opts *opts)
{
        uint32_t depth_max = opts && opts->depth_max ? opts->depth_max : EDDY_JSON_DEPTH_DEFAULT;

        if (depth_max > EDDY_JSON_DEPTH_MAX || (opts && opts->flags))
                return -EINVAL;
        scan->text = (const ed_byte *) (text ? text : ""); /* NULL means "wrong" */
        scan->end = scan->text + bytes;
        scan->out = (ed_byte *) out;
        scan->run = scan->text;
        scan->depth = 0;
        scan->depth_max = depth_max;
        return 0;
}

static int scan_fail(const struct scan *scan, struct eddy_json_error *ret_error)
{
        uint64_t offset = (uint64_t) (scan->wrong - scan->text);

        if (scan->wrong == scan->end)
                return ed_json_fail(ret_error, scan->error, (const char *) scan->text, offset, NULL,
                                    "the text ends here; %s", scan->what);
        if (*scan->wrong > ' ' && *scan->wrong < 0x7f)
                return ed_json_fail(ret_error, scan->error, (const char *) scan->text, offset, NULL,
                                    "%s, found '%c'", scan->what, *scan->wrong);
        return ed_json_fail(ret_error, scan->error, (const char *) scan->text, offset, NULL,
                            "%s, found the byte 0x%02X", scan->what, *scan->wrong);
}

int eddy_json_check(const char *text, size_t bytes, const struct eddy_json_opts *opts,
                    struct eddy_json_error *ret_error)
{
        struct scan scan;

        if (scan_begin(&scan, text, bytes, NULL, opts) < 0)
                return ed_json_fail(ret_error, -EINVAL, text, 0, NULL,
                                    "the option depth_max is above %d, or a flag is unknown",
                                    EDDY_JSON_DEPTH_MAX);
        if (!scan_text(&scan, scan.text, false))
                return scan_fail(&scan, ret_error);
        return 0;
}

int64_t eddy_json_compact(const char *text, size_t bytes, char *out,
                          const struct eddy_json_opts *opts, struct eddy_json_error *ret_error)
{
        struct scan scan;

        if (scan_begin(&scan, text, bytes, out, opts) < 0)
                return ed_json_fail(ret_error, -EINVAL, text, 0, NULL,
                                    "the option depth_max is above %d, or a flag is unknown",
                                    EDDY_JSON_DEPTH_MAX);
        if (!scan_text(&scan, scan.text, true))
                return scan_fail(&scan, ret_error);
        scan.out = copy_run(scan.out, scan.run, (size_t) (scan.end - scan.run), scan.end);
        return (char *) scan.out - out;
}
