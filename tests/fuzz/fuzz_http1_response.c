/*
 * fuzz_http1_response.c - any bytes as a response with its body: the verdict
 * and the body do not depend on how they are cut.
 */
#include "fuzz_http1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        static const enum wire_kind kinds[] = { WIRE_RESPONSE, WIRE_TO_HEAD, WIRE_TO_CONNECT };

        return fuzz_http1(data, bytes, kinds, 3);
}
