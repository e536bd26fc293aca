/* Whether this thread has its processor core to itself.
 *
 * On a rented machine the other hardware thread of a core may be somebody else's, for milliseconds or for hours. While
 * both run, each has half of the core's queues: of the one for stores, for example, so that code which writes much, as
 * recording does, takes one and a half times as long, and a loop that waits for one result after the other hardly
 * notices. A ratio of the two then says more about the neighbour than about either.
 */
#ifndef BENCH_ALONE_H
#define BENCH_ALONE_H

#include <stdbool.h>

/* Takes some 3 us. Compares two loops that run at the core's clock: dependent multiplications, and bursts of stores
 * that fit into the whole queue and not into half of it. Where the second never varies beside the first, the answer is
 * always yes. May be called by several threads. */
bool bench_is_alone(void);

#endif
