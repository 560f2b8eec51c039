/*
 * base/hex.h - hexadecimal digits.
 */
#ifndef ED_BASE_HEX_H
#define ED_BASE_HEX_H

/* Returns the value of a digit in upper or lower case, or -1 for another character. */
static inline int ed_hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
