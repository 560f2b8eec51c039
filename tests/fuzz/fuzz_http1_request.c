/*
 * fuzz_http1_request.c - any bytes as a request: the verdict does not depend on
 * how they are cut.
 */
#include "fuzz_http1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        static const enum wire_kind kinds[] = { WIRE_REQUEST };

        return fuzz_http1(data, bytes, kinds, 1);
}
