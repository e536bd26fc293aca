/* Backends that are the cpu's with a door before each function that can fail. */
#ifndef DOORS_H
#define DOORS_H

#include "scene.h"

#include <rondo/backend.h>

typedef enum door {
    DOOR_OPEN,
    DOOR_PAGE_ALLOC,
    DOOR_PAGE_IMPORT,
    DOOR_KERNEL_LOAD,
    DOOR_QUEUE_OPEN,
    DOOR_SUBMIT,
    DOOR_GRAPH_BUILD,
    DOOR_GRAPH_SUBMIT,
    DOOR_GRAPH_HALF, /* graph_submit gives up half-way */
    DOORS
} door;

/* The one door that is shut: there strike_now is asked, and what strikes gets this answer. */
extern door shut;
extern rondo_backend_result answer;

/* Registers "doors", and "doors-no-graphs", which has no graph functions. */
void make_backends(void);

#endif
