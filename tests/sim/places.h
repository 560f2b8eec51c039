/*
 * places.h - the places in the source from which calls came that were made to
 * fail.
 */
#ifndef ED_PLACES_H
#define ED_PLACES_H

/* What __builtin_return_address(0) gives in the function that was called. */
void places_note(const void *address);

/* How many differ; with EDDY_TEST_PLACES each is printed, for tests/fault/places. */
int places_print(void);

#endif
