#include "base/objects.h"

rdo_slots rdo_objects = RDO_SLOTS_INIT(rdo_object);

uint64_t rdo_object_new(rdo_object_kind kind, void *object, void *keeper) {
    uint64_t number;
    rdo_object *slot = (rdo_object *)(void *)rdo_slots_take(&rdo_objects, &number);
    if (slot == NULL) return 0;
    atomic_store_explicit(&slot->object, object, memory_order_relaxed);
    atomic_store_explicit(&slot->keeper, keeper, memory_order_relaxed);
    atomic_store_explicit(&slot->kind, (int)kind, memory_order_relaxed);
    rdo_slots_publish(&slot->slot, number);
    return number;
}

static rdo_object *slot_of(uint64_t handle) {
    return (rdo_object *)rdo_slots_at(&rdo_objects, sizeof(rdo_object), handle);
}

void rdo_object_hide(uint64_t handle) {
    rdo_slots_hide(&slot_of(handle)->slot);
}

void rdo_object_delete(uint64_t handle) {
    rdo_slots_give(&rdo_objects, &slot_of(handle)->slot);
}
