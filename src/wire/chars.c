/*
 * wire/chars.c - the class of each character.
 */
#include "wire/chars.h"

enum {
        TOKEN = ED_CHAR_TOKEN,
        VALUE = ED_CHAR_VALUE,
        TARGET = ED_CHAR_TARGET,
        PLAIN = TOKEN | VALUE | TARGET,
        NAME = PLAIN | ED_CHAR_HOST,
};

const uint8_t ed_chars[256] = {
        ['\t'] = VALUE,
        [' '] = VALUE,
        ['!'] = PLAIN,
        ['"'] = VALUE,
        ['#'] = TOKEN | VALUE,
        ['$' ... '\''] = PLAIN,
        ['(' ... ')'] = VALUE | TARGET,
        ['*' ... '+'] = PLAIN,
        [','] = VALUE | TARGET,
        ['-' ... '.'] = NAME,
        ['/'] = VALUE | TARGET,
        ['0' ... '9'] = NAME | ED_CHAR_HEX | ED_CHAR_DIGIT,
        [':' ... ';'] = VALUE | TARGET,
        ['<'] = VALUE,
        ['='] = VALUE | TARGET,
        ['>'] = VALUE,
        ['?' ... '@'] = VALUE | TARGET,
        ['A' ... 'F'] = NAME | ED_CHAR_HEX,
        ['G' ... 'Z'] = NAME,
        ['['] = VALUE | TARGET,
        ['\\'] = VALUE,
        [']'] = VALUE | TARGET,
        ['^'] = PLAIN,
        ['_'] = NAME,
        ['`'] = PLAIN,
        ['a' ... 'f'] = NAME | ED_CHAR_HEX,
        ['g' ... 'z'] = NAME,
        ['{'] = VALUE | TARGET,
        ['|'] = PLAIN,
        ['}'] = VALUE | TARGET,
        ['~'] = PLAIN,
        [0x80 ... 0xFF] = VALUE,
};
