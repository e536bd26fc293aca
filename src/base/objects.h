/* Handles of objects: opaque pointers whose value is a slot number, so that a stale one is recognised. */
#ifndef RDO_BASE_OBJECTS_H
#define RDO_BASE_OBJECTS_H

#include "base/slots.h"

typedef enum rdo_object_kind {
    RDO_OBJECT_DEVICE = 1,
    RDO_OBJECT_STREAM = 2,
    RDO_OBJECT_KERNEL = 3,
    RDO_OBJECT_GRAPH = 4,
    RDO_OBJECT_EVENT = 5
} rdo_object_kind;

typedef struct rdo_object {
    rdo_slot slot; /* must come first */
    _Atomic(void *) object;
    _Atomic(void *) keeper; /* whoever holds this thing's lock keeps the object from ending; NULL: nothing does */
    _Atomic int kind;
    char unused[16]; /* a power of two, as each call looks up two */
} rdo_object;

extern rdo_slots rdo_objects;

/* A handle for `object`, 0 without memory. `keeper` may be NULL. */
uint64_t rdo_object_new(rdo_object_kind kind, void *object, void *keeper);
/* The handle is dead from now on. */
void rdo_object_hide(uint64_t handle);
/* Gives its slot back; it was hidden before. */
void rdo_object_delete(uint64_t handle);

/* What the handle stands for, NULL if nothing of that kind. */
static inline void *rdo_object_find(rdo_object_kind kind, const void *handle) {
    rdo_object *slot = (rdo_object *)rdo_slots_find(&rdo_objects, sizeof(rdo_object), (uint64_t)(uintptr_t)handle);
    if (slot == NULL || atomic_load_explicit(&slot->kind, memory_order_relaxed) != (int)kind) return NULL;
    return atomic_load_explicit(&slot->object, memory_order_relaxed);
}

/* The same if `keeper`, whose lock the caller holds, keeps it: then it stays as long as that lock is held. */
static inline void *rdo_object_find_kept(rdo_object_kind kind, const void *handle, const void *keeper) {
    rdo_object *slot = (rdo_object *)rdo_slots_find(&rdo_objects, sizeof(rdo_object), (uint64_t)(uintptr_t)handle);
    if (slot == NULL || atomic_load_explicit(&slot->keeper, memory_order_relaxed) != keeper) return NULL;
    return rdo_object_find(kind, handle);
}

#endif
