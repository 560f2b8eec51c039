/*
 * eddy/each.h - private: applies a macro to each argument.
 *
 * EDDY_EACH(m, a, b, c) is m(a), m(b), m(c), for at most 64 arguments.
 */
#ifndef EDDY_EACH_H
#define EDDY_EACH_H

/*
 * 'value' if it has this struct type, else an error of the compiler.  In a list of arguments or
 * initialisers, the compiler itself would accept values of other types.
 */
#define EDDY_ONLY(type, value) (__extension__ _Generic((value), type : (value)))

/* clang-format off */
#define EDDY_EACH_1(m, a) m(a)
#define EDDY_EACH_2(m, a, ...) m(a), EDDY_EACH_1(m, __VA_ARGS__)
#define EDDY_EACH_3(m, a, ...) m(a), EDDY_EACH_2(m, __VA_ARGS__)
#define EDDY_EACH_4(m, a, ...) m(a), EDDY_EACH_3(m, __VA_ARGS__)
#define EDDY_EACH_5(m, a, ...) m(a), EDDY_EACH_4(m, __VA_ARGS__)
#define EDDY_EACH_6(m, a, ...) m(a), EDDY_EACH_5(m, __VA_ARGS__)
#define EDDY_EACH_7(m, a, ...) m(a), EDDY_EACH_6(m, __VA_ARGS__)
#define EDDY_EACH_8(m, a, ...) m(a), EDDY_EACH_7(m, __VA_ARGS__)
#define EDDY_EACH_9(m, a, ...) m(a), EDDY_EACH_8(m, __VA_ARGS__)
#define EDDY_EACH_10(m, a, ...) m(a), EDDY_EACH_9(m, __VA_ARGS__)
#define EDDY_EACH_11(m, a, ...) m(a), EDDY_EACH_10(m, __VA_ARGS__)
#define EDDY_EACH_12(m, a, ...) m(a), EDDY_EACH_11(m, __VA_ARGS__)
#define EDDY_EACH_13(m, a, ...) m(a), EDDY_EACH_12(m, __VA_ARGS__)
#define EDDY_EACH_14(m, a, ...) m(a), EDDY_EACH_13(m, __VA_ARGS__)
#define EDDY_EACH_15(m, a, ...) m(a), EDDY_EACH_14(m, __VA_ARGS__)
#define EDDY_EACH_16(m, a, ...) m(a), EDDY_EACH_15(m, __VA_ARGS__)
#define EDDY_EACH_17(m, a, ...) m(a), EDDY_EACH_16(m, __VA_ARGS__)
#define EDDY_EACH_18(m, a, ...) m(a), EDDY_EACH_17(m, __VA_ARGS__)
#define EDDY_EACH_19(m, a, ...) m(a), EDDY_EACH_18(m, __VA_ARGS__)
#define EDDY_EACH_20(m, a, ...) m(a), EDDY_EACH_19(m, __VA_ARGS__)
#define EDDY_EACH_21(m, a, ...) m(a), EDDY_EACH_20(m, __VA_ARGS__)
#define EDDY_EACH_22(m, a, ...) m(a), EDDY_EACH_21(m, __VA_ARGS__)
#define EDDY_EACH_23(m, a, ...) m(a), EDDY_EACH_22(m, __VA_ARGS__)
#define EDDY_EACH_24(m, a, ...) m(a), EDDY_EACH_23(m, __VA_ARGS__)
#define EDDY_EACH_25(m, a, ...) m(a), EDDY_EACH_24(m, __VA_ARGS__)
#define EDDY_EACH_26(m, a, ...) m(a), EDDY_EACH_25(m, __VA_ARGS__)
#define EDDY_EACH_27(m, a, ...) m(a), EDDY_EACH_26(m, __VA_ARGS__)
#define EDDY_EACH_28(m, a, ...) m(a), EDDY_EACH_27(m, __VA_ARGS__)
#define EDDY_EACH_29(m, a, ...) m(a), EDDY_EACH_28(m, __VA_ARGS__)
#define EDDY_EACH_30(m, a, ...) m(a), EDDY_EACH_29(m, __VA_ARGS__)
#define EDDY_EACH_31(m, a, ...) m(a), EDDY_EACH_30(m, __VA_ARGS__)
#define EDDY_EACH_32(m, a, ...) m(a), EDDY_EACH_31(m, __VA_ARGS__)
#define EDDY_EACH_33(m, a, ...) m(a), EDDY_EACH_32(m, __VA_ARGS__)
#define EDDY_EACH_34(m, a, ...) m(a), EDDY_EACH_33(m, __VA_ARGS__)
#define EDDY_EACH_35(m, a, ...) m(a), EDDY_EACH_34(m, __VA_ARGS__)
#define EDDY_EACH_36(m, a, ...) m(a), EDDY_EACH_35(m, __VA_ARGS__)
#define EDDY_EACH_37(m, a, ...) m(a), EDDY_EACH_36(m, __VA_ARGS__)
#define EDDY_EACH_38(m, a, ...) m(a), EDDY_EACH_37(m, __VA_ARGS__)
#define EDDY_EACH_39(m, a, ...) m(a), EDDY_EACH_38(m, __VA_ARGS__)
#define EDDY_EACH_40(m, a, ...) m(a), EDDY_EACH_39(m, __VA_ARGS__)
#define EDDY_EACH_41(m, a, ...) m(a), EDDY_EACH_40(m, __VA_ARGS__)
#define EDDY_EACH_42(m, a, ...) m(a), EDDY_EACH_41(m, __VA_ARGS__)
#define EDDY_EACH_43(m, a, ...) m(a), EDDY_EACH_42(m, __VA_ARGS__)
#define EDDY_EACH_44(m, a, ...) m(a), EDDY_EACH_43(m, __VA_ARGS__)
#define EDDY_EACH_45(m, a, ...) m(a), EDDY_EACH_44(m, __VA_ARGS__)
#define EDDY_EACH_46(m, a, ...) m(a), EDDY_EACH_45(m, __VA_ARGS__)
#define EDDY_EACH_47(m, a, ...) m(a), EDDY_EACH_46(m, __VA_ARGS__)
#define EDDY_EACH_48(m, a, ...) m(a), EDDY_EACH_47(m, __VA_ARGS__)
#define EDDY_EACH_49(m, a, ...) m(a), EDDY_EACH_48(m, __VA_ARGS__)
#define EDDY_EACH_50(m, a, ...) m(a), EDDY_EACH_49(m, __VA_ARGS__)
#define EDDY_EACH_51(m, a, ...) m(a), EDDY_EACH_50(m, __VA_ARGS__)
#define EDDY_EACH_52(m, a, ...) m(a), EDDY_EACH_51(m, __VA_ARGS__)
#define EDDY_EACH_53(m, a, ...) m(a), EDDY_EACH_52(m, __VA_ARGS__)
#define EDDY_EACH_54(m, a, ...) m(a), EDDY_EACH_53(m, __VA_ARGS__)
#define EDDY_EACH_55(m, a, ...) m(a), EDDY_EACH_54(m, __VA_ARGS__)
#define EDDY_EACH_56(m, a, ...) m(a), EDDY_EACH_55(m, __VA_ARGS__)
#define EDDY_EACH_57(m, a, ...) m(a), EDDY_EACH_56(m, __VA_ARGS__)
#define EDDY_EACH_58(m, a, ...) m(a), EDDY_EACH_57(m, __VA_ARGS__)
#define EDDY_EACH_59(m, a, ...) m(a), EDDY_EACH_58(m, __VA_ARGS__)
#define EDDY_EACH_60(m, a, ...) m(a), EDDY_EACH_59(m, __VA_ARGS__)
#define EDDY_EACH_61(m, a, ...) m(a), EDDY_EACH_60(m, __VA_ARGS__)
#define EDDY_EACH_62(m, a, ...) m(a), EDDY_EACH_61(m, __VA_ARGS__)
#define EDDY_EACH_63(m, a, ...) m(a), EDDY_EACH_62(m, __VA_ARGS__)
#define EDDY_EACH_64(m, a, ...) m(a), EDDY_EACH_63(m, __VA_ARGS__)
#define EDDY_EACH_PICK( \
        a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, \
        a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, \
        a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, \
        a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, \
        chosen, ...) chosen
#define EDDY_EACH(m, ...) \
        EDDY_EACH_PICK(__VA_ARGS__, \
        EDDY_EACH_64, EDDY_EACH_63, EDDY_EACH_62, EDDY_EACH_61, EDDY_EACH_60, \
        EDDY_EACH_59, EDDY_EACH_58, EDDY_EACH_57, EDDY_EACH_56, EDDY_EACH_55, \
        EDDY_EACH_54, EDDY_EACH_53, EDDY_EACH_52, EDDY_EACH_51, EDDY_EACH_50, \
        EDDY_EACH_49, EDDY_EACH_48, EDDY_EACH_47, EDDY_EACH_46, EDDY_EACH_45, \
        EDDY_EACH_44, EDDY_EACH_43, EDDY_EACH_42, EDDY_EACH_41, EDDY_EACH_40, \
        EDDY_EACH_39, EDDY_EACH_38, EDDY_EACH_37, EDDY_EACH_36, EDDY_EACH_35, \
        EDDY_EACH_34, EDDY_EACH_33, EDDY_EACH_32, EDDY_EACH_31, EDDY_EACH_30, \
        EDDY_EACH_29, EDDY_EACH_28, EDDY_EACH_27, EDDY_EACH_26, EDDY_EACH_25, \
        EDDY_EACH_24, EDDY_EACH_23, EDDY_EACH_22, EDDY_EACH_21, EDDY_EACH_20, \
        EDDY_EACH_19, EDDY_EACH_18, EDDY_EACH_17, EDDY_EACH_16, EDDY_EACH_15, \
        EDDY_EACH_14, EDDY_EACH_13, EDDY_EACH_12, EDDY_EACH_11, EDDY_EACH_10, \
        EDDY_EACH_9, EDDY_EACH_8, EDDY_EACH_7, EDDY_EACH_6, EDDY_EACH_5, EDDY_EACH_4, \
        EDDY_EACH_3, EDDY_EACH_2, EDDY_EACH_1, 0)(m, __VA_ARGS__)
/* clang-format on */

#endif
