/*
 * eddy/fields_macros.h - how the macros of eddy/fields.h find the types of members.
 *
 * Included by eddy/fields.h.  A type that cannot be a field fails a static assertion.
 */
#ifndef EDDY_FIELDS_MACROS_H
#define EDDY_FIELDS_MACROS_H

#include "eddy/fields.h"

#define EDDY_FIELD_TYPE(type, member) __typeof__(((type *) 0)->member)
#define EDDY_FIELD_ITEM(type, member) __typeof__(((type *) 0)->member[0])

#define EDDY_FIELD_SAYS_KIND                                                                       \
        "EDDY_FIELD: the member or item is not a bool, integer, float, double, char[N] or char *"
#define EDDY_FIELD_SAYS_RAW  "EDDY_FIELD_RAW: the member is not a char *"
#define EDDY_FIELD_SAYS_FLAG "EDDY_FIELD_FLAG: the member is not a bool"
#define EDDY_FIELD_SAYS_ENUM "EDDY_FIELD_ENUM: the member is not an int or an enum"
#define EDDY_FIELD_SAYS_TAG  "EDDY_FIELD_TAG: the member is not an int or an enum"
#define EDDY_FIELD_SAYS_COUNT                                                                      \
        "EDDY_FIELD_ARRAY or EDDY_FIELD_LIST or EDDY_FIELD_MAP: the count is not a size_t"
#define EDDY_FIELD_SAYS_ARRAY "EDDY_FIELD_ARRAY: the member is a pointer; use EDDY_FIELD_LIST"
#define EDDY_FIELD_SAYS_LIST  "EDDY_FIELD_LIST: the member is an array; use EDDY_FIELD_ARRAY"
#define EDDY_FIELD_SAYS_MAP   "EDDY_FIELD_MAP: the member is not a pointer"

#ifdef __cplusplus
/* The kind of a type that can be a field; 0 for any other type. */
template <int Kind> struct eddy_field_kind_is {
        enum { EDDY_FIELD_KIND = Kind };
};
template <typename T> struct eddy_field_type : eddy_field_kind_is<0> {
};
template <> struct eddy_field_type<bool> : eddy_field_kind_is<EDDY_KIND_BOOL> {
};
template <> struct eddy_field_type<signed char> : eddy_field_kind_is<EDDY_KIND_INT> {
};
template <> struct eddy_field_type<short> : eddy_field_kind_is<EDDY_KIND_INT> {
};
template <> struct eddy_field_type<int> : eddy_field_kind_is<EDDY_KIND_INT> {
};
template <> struct eddy_field_type<long> : eddy_field_kind_is<EDDY_KIND_INT> {
};
template <> struct eddy_field_type<long long> : eddy_field_kind_is<EDDY_KIND_INT> {
};
template <> struct eddy_field_type<unsigned char> : eddy_field_kind_is<EDDY_KIND_UINT> {
};
template <> struct eddy_field_type<unsigned short> : eddy_field_kind_is<EDDY_KIND_UINT> {
};
template <> struct eddy_field_type<unsigned> : eddy_field_kind_is<EDDY_KIND_UINT> {
};
template <> struct eddy_field_type<unsigned long> : eddy_field_kind_is<EDDY_KIND_UINT> {
};
template <> struct eddy_field_type<unsigned long long> : eddy_field_kind_is<EDDY_KIND_UINT> {
};
template <> struct eddy_field_type<float> : eddy_field_kind_is<EDDY_KIND_DOUBLE> {
};
template <> struct eddy_field_type<double> : eddy_field_kind_is<EDDY_KIND_DOUBLE> {
};
template <> struct eddy_field_type<char *> : eddy_field_kind_is<EDDY_KIND_STRING> {
};
template <size_t N> struct eddy_field_type<char[N]> : eddy_field_kind_is<EDDY_KIND_CHARS> {
};

template <typename T> struct eddy_field_plain {
        typedef T type;
};
template <typename T> struct eddy_field_plain<T &> {
        typedef T type;
};
template <typename T, typename Want> struct eddy_field_same {
        enum { EDDY_FIELD_YES = 0 };
};
template <typename T> struct eddy_field_same<T, T> {
        enum { EDDY_FIELD_YES = 1 };
};
template <typename T> struct eddy_field_is_list {
        enum { EDDY_FIELD_YES = 0 };
};
template <typename T> struct eddy_field_is_list<T *> {
        enum { EDDY_FIELD_YES = 1 };
};
#define EDDY_FIELD_CHECKER(eddy_name, says)                                                        \
        template <bool Right> struct eddy_name {                                                   \
                static_assert(Right, says);                                                        \
                enum { EDDY_FIELD_ZERO = 0 };                                                      \
        };
EDDY_FIELD_CHECKER(eddy_field_check_KIND, EDDY_FIELD_SAYS_KIND)
EDDY_FIELD_CHECKER(eddy_field_check_RAW, EDDY_FIELD_SAYS_RAW)
EDDY_FIELD_CHECKER(eddy_field_check_FLAG, EDDY_FIELD_SAYS_FLAG)
EDDY_FIELD_CHECKER(eddy_field_check_ENUM, EDDY_FIELD_SAYS_ENUM)
EDDY_FIELD_CHECKER(eddy_field_check_COUNT, EDDY_FIELD_SAYS_COUNT)
EDDY_FIELD_CHECKER(eddy_field_check_ARRAY, EDDY_FIELD_SAYS_ARRAY)
EDDY_FIELD_CHECKER(eddy_field_check_LIST, EDDY_FIELD_SAYS_LIST)
EDDY_FIELD_CHECKER(eddy_field_check_MAP, EDDY_FIELD_SAYS_MAP)
EDDY_FIELD_CHECKER(eddy_field_check_TAG, EDDY_FIELD_SAYS_TAG)

/* The limit of a number as an integer; 0 of a floating point number. */
template <typename T> constexpr uint64_t eddy_field_integer(T number)
{
        return static_cast<uint64_t>(number);
}
template <> constexpr uint64_t eddy_field_integer(float)
{
        return 0;
}
template <> constexpr uint64_t eddy_field_integer(double)
{
        return 0;
}
template <> constexpr uint64_t eddy_field_integer(long double)
{
        return 0;
}

#define EDDY_FIELD_IS(what, type) (static_cast<int>(eddy_field_same<what, type>::EDDY_FIELD_YES))
#define EDDY_FIELD_KIND_OR_0(what)                                                                 \
        (int(eddy_field_type<eddy_field_plain<what>::type>::EDDY_FIELD_KIND))
#define EDDY_FIELD_INTEGER(number) (eddy_field_integer(number))
#define EDDY_FIELD_IS_LIST(type, member)                                                           \
        (eddy_field_is_list<EDDY_FIELD_TYPE(type, member)>::EDDY_FIELD_YES)
#define EDDY_FIELD_IS_ENUM(type, member)                                                           \
        (__is_enum(EDDY_FIELD_TYPE(type, member)) ||                                               \
         EDDY_FIELD_KIND_OR_0(EDDY_FIELD_TYPE(type, member)) == EDDY_KIND_INT ||                   \
         EDDY_FIELD_KIND_OR_0(EDDY_FIELD_TYPE(type, member)) == EDDY_KIND_UINT)
/* 0, or an error with the text EDDY_FIELD_SAYS_name. */
#define EDDY_FIELD_CHECK(name, is_right)                                                           \
        (size_t(eddy_field_check_##name<bool(is_right)>::EDDY_FIELD_ZERO))
#else
#define EDDY_FIELD_IS(what, type) __builtin_types_compatible_p(what, type)
/* 0 for any other type. */
#define EDDY_FIELD_KIND_OR_0(what)                                                                 \
        (EDDY_FIELD_IS(what, bool) * EDDY_KIND_BOOL +                                              \
         (EDDY_FIELD_IS(what, signed char) | EDDY_FIELD_IS(what, short) |                          \
          EDDY_FIELD_IS(what, int) | EDDY_FIELD_IS(what, long) | EDDY_FIELD_IS(what, long long)) * \
                 EDDY_KIND_INT +                                                                   \
         (EDDY_FIELD_IS(what, unsigned char) | EDDY_FIELD_IS(what, unsigned short) |               \
          EDDY_FIELD_IS(what, unsigned) | EDDY_FIELD_IS(what, unsigned long) |                     \
          EDDY_FIELD_IS(what, unsigned long long)) *                                               \
                 EDDY_KIND_UINT +                                                                  \
         (EDDY_FIELD_IS(what, double) + EDDY_FIELD_IS(what, float)) * EDDY_KIND_DOUBLE +           \
         EDDY_FIELD_IS(what, char *) * EDDY_KIND_STRING +                                          \
         EDDY_FIELD_IS(what, char[]) * EDDY_KIND_CHARS)
#define EDDY_FIELD_INTEGER(number)                                                                 \
        ((uint64_t) __builtin_choose_expr(EDDY_FIELD_IS_REAL(number), 0, (number)))
/* The address of an array has the type of no pointer to a pointer. */
#define EDDY_FIELD_IS_LIST(type, member)                                                           \
        EDDY_FIELD_IS(EDDY_FIELD_TYPE(type, member), EDDY_FIELD_ITEM(type, member) *)
/* The classes below 5 are those of integers and enums; pointers, floats and structs follow. */
#define EDDY_FIELD_IS_ENUM(type, member) (__builtin_classify_type(((type *) 0)->member) < 5)
/* 0, or an error with the text EDDY_FIELD_SAYS_name. */
#define EDDY_FIELD_CHECK(name, is_right)                                                           \
        EDDY_CHECK_(is_right, EDDY_FIELD_SAYS_##name, wrong_type_for_EDDY_FIELD_##name)
#endif

#define EDDY_FIELD_IS_REAL(number)                                                                 \
        (EDDY_FIELD_IS(__typeof__(number), double) + EDDY_FIELD_IS(__typeof__(number), float) +    \
         EDDY_FIELD_IS(__typeof__(number), long double))
#define EDDY_FIELD_LIMIT(number) (EDDY_FIELD_IS_REAL(number) ? EDDY_LIMIT_REAL : EDDY_LIMIT_INTEGER)

#define EDDY_FIELD_KIND_OF(what)                                                                   \
        (EDDY_FIELD_KIND_OR_0(what) + (int) EDDY_FIELD_CHECK(KIND, EDDY_FIELD_KIND_OR_0(what) != 0))
#define EDDY_FIELD_CHECK_AS(name, type, member, want)                                              \
        EDDY_FIELD_CHECK(name, EDDY_FIELD_IS(EDDY_FIELD_TYPE(type, member), want))

/* The offset of the count, if that is a size_t. */
#define EDDY_FIELD_COUNT(type, count)                                                              \
        (offsetof(type, count) + EDDY_FIELD_CHECK_AS(COUNT, type, count, size_t))

#define EDDY_FIELD_BEGIN(type, member, kind_of, shape_of, item, most, count_at, table, enums)      \
        .name = #member, .kind = (kind_of), .shape = (shape_of), .offset = offsetof(type, member), \
        .bytes = sizeof(item), .items_max = (most), .count_offset = (count_at), .fields = (table), \
        .names = (enums)

#define EDDY_FIELD_PUT_ONE(type, member, ...)                                                      \
        {                                                                                          \
                EDDY_FIELD_BEGIN(type, member, EDDY_FIELD_KIND_OF(EDDY_FIELD_TYPE(type, member)),  \
                                 EDDY_SHAPE_ONE, EDDY_FIELD_TYPE(type, member), 0, 0, NULL, NULL), \
                        __VA_ARGS__                                                                \
        }
#define EDDY_FIELD_PUT_RAW(type, member, ...)                                                      \
        {                                                                                          \
                EDDY_FIELD_BEGIN(                                                                  \
                        type, member, EDDY_KIND_RAW, EDDY_SHAPE_ONE,                               \
                        char[sizeof(char *) + EDDY_FIELD_CHECK_AS(RAW, type, member, char *)], 0,  \
                        0, NULL, NULL),                                                            \
                        __VA_ARGS__                                                                \
        }
#define EDDY_FIELD_FITS_ENUM(type, member)                                                         \
        (sizeof(EDDY_FIELD_TYPE(type, member)) == sizeof(int) && EDDY_FIELD_IS_ENUM(type, member))
#define EDDY_FIELD_PUT_ENUM(type, member, enum_names, ...)                                         \
        {                                                                                          \
                EDDY_FIELD_BEGIN(type, member, EDDY_KIND_ENUM, EDDY_SHAPE_ONE,                     \
                                 char[sizeof(int) +                                                \
                                      EDDY_FIELD_CHECK(ENUM, EDDY_FIELD_FITS_ENUM(type, member))], \
                                 0, 0, NULL, enum_names),                                          \
                        __VA_ARGS__                                                                \
        }
#define EDDY_FIELD_PUT_TAG(type, member, tag_names, ...)                                           \
        {                                                                                          \
                EDDY_FIELD_BEGIN(type, member, EDDY_KIND_TAG, EDDY_SHAPE_ONE,                      \
                                 char[sizeof(int) +                                                \
                                      EDDY_FIELD_CHECK(TAG, EDDY_FIELD_FITS_ENUM(type, member))],  \
                                 0, 0, NULL, tag_names),                                           \
                        __VA_ARGS__                                                                \
        }
#define EDDY_FIELD_PUT_STRUCT(type, member, table, ...)                                            \
        {                                                                                          \
                EDDY_FIELD_BEGIN(type, member, EDDY_KIND_STRUCT, EDDY_SHAPE_ONE,                   \
                                 EDDY_FIELD_TYPE(type, member), 0, 0, table, NULL),                \
                        __VA_ARGS__                                                                \
        }
#define EDDY_FIELD_MOST(type, member)                                                              \
        (sizeof(EDDY_FIELD_TYPE(type, member)) / sizeof(EDDY_FIELD_ITEM(type, member)) +           \
         EDDY_FIELD_CHECK(ARRAY, !EDDY_FIELD_IS_LIST(type, member)))
#define EDDY_FIELD_NO_MOST(type, member) EDDY_FIELD_CHECK(LIST, EDDY_FIELD_IS_LIST(type, member))
#define EDDY_FIELD_PUT_ARRAY(type, member, count, ...)                                             \
        {                                                                                          \
                EDDY_FIELD_BEGIN(type, member, EDDY_FIELD_KIND_OF(EDDY_FIELD_ITEM(type, member)),  \
                                 EDDY_SHAPE_ARRAY, EDDY_FIELD_ITEM(type, member),                  \
                                 EDDY_FIELD_MOST(type, member), EDDY_FIELD_COUNT(type, count),     \
                                 NULL, NULL),                                                      \
                        __VA_ARGS__                                                                \
        }
#define EDDY_FIELD_PUT_LIST(type, member, count, ...)                                              \
        {                                                                                          \
                EDDY_FIELD_BEGIN(type, member, EDDY_FIELD_KIND_OF(EDDY_FIELD_ITEM(type, member)),  \
                                 EDDY_SHAPE_LIST, EDDY_FIELD_ITEM(type, member),                   \
                                 EDDY_FIELD_NO_MOST(type, member), EDDY_FIELD_COUNT(type, count),  \
                                 NULL, NULL),                                                      \
                        __VA_ARGS__                                                                \
        }
#define EDDY_FIELD_PUT_ARRAY_OF(type, member, count, table, ...)                                   \
        {                                                                                          \
                EDDY_FIELD_BEGIN(type, member, EDDY_KIND_STRUCT, EDDY_SHAPE_ARRAY,                 \
                                 EDDY_FIELD_ITEM(type, member), EDDY_FIELD_MOST(type, member),     \
                                 EDDY_FIELD_COUNT(type, count), table, NULL),                      \
                        __VA_ARGS__                                                                \
        }
#define EDDY_FIELD_PUT_LIST_OF(type, member, count, table, ...)                                    \
        {                                                                                          \
                EDDY_FIELD_BEGIN(type, member, EDDY_KIND_STRUCT, EDDY_SHAPE_LIST,                  \
                                 EDDY_FIELD_ITEM(type, member), EDDY_FIELD_NO_MOST(type, member),  \
                                 EDDY_FIELD_COUNT(type, count), table, NULL),                      \
                        __VA_ARGS__                                                                \
        }

#define EDDY_FIELD_PUT_MAP(type, member, count, table, ...)                                        \
        {                                                                                          \
                EDDY_FIELD_BEGIN(type, member, EDDY_KIND_STRUCT, EDDY_SHAPE_MAP,                   \
                                 EDDY_FIELD_ITEM(type, member),                                    \
                                 EDDY_FIELD_CHECK(MAP, EDDY_FIELD_IS_LIST(type, member)),          \
                                 EDDY_FIELD_COUNT(type, count), table, NULL),                      \
                        __VA_ARGS__                                                                \
        }

#endif
