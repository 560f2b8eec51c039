/*
 * mock/model.h - the mock's model: vectors and sentences that depend only on their input.
 */
#ifndef ED_CMD_MOCK_MODEL_H
#define ED_CMD_MOCK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/draft.h"

/* The hash of no bytes. */
#define ED_MODEL_HASH UINT64_C(14695981039346656037)

enum { ED_MODEL_WORD_BYTES = 16, ED_MODEL_DIMENSIONS_MAX = 4096 };

/* Continue a hash with more bytes (FNV-1a, 64 bits). */
uint64_t ed_model_hash(uint64_t hash, const void *data, size_t bytes);

/* Returns the number of tokens of a text: one for each 4 bytes, but at least one. */
uint64_t ed_model_tokens(uint64_t bytes);

/*
 * Append the vector for a hash. Its length is 1. It is an array of numbers, or a string: the base64
 * form of 32-bit floats, least significant byte first.
 */
void ed_model_embed(uint64_t hash, uint32_t dimensions, bool base64, struct ed_draft *text);

/* Returns the number of words, 8 to 40, in answer number 'choice' to a prompt with this hash. */
uint32_t ed_model_length(uint64_t hash, uint32_t choice);

/*
 * Print word number 'i' of an answer of 'length' words, which is one token. A space precedes each
 * word but the first, and a full stop follows the last. Returns the size.
 */
size_t ed_model_word(uint64_t hash, uint32_t choice, uint32_t i, uint32_t length,
                     char word[ED_MODEL_WORD_BYTES]);

#endif
