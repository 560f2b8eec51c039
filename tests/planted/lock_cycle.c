/*
 * lock_cycle.c - two transfers that each have the lock that the other waits
 * for, and nobody else is there: the report of a deadlock names both.
 *
 * Says: eddy: all tasks wait and nothing can wake them; the run is cancelled:
 * Says: rent waits for a lock, held by salary
 * Says: salary waits for a lock, held by rent
 * Says: ended with EDEADLK
 */
#include "lock_cycle.h"

int main(void)
{
        return end(eddy_run(transfers, NULL, NULL));
}
