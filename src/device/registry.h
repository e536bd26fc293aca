/* The backends that this process knows. */
#ifndef RDO_DEVICE_REGISTRY_H
#define RDO_DEVICE_REGISTRY_H

#include <rondo/backend.h>

#include "fault/ledger.h"

enum { RDO_MAX_BACKENDS = 32 };

/* The backend called `name` (its part before a colon, `name_length` long), NULL if there is none. */
const rondo_backend *rdo_registry_find(const char *name, size_t name_length);
/* Backend number `index`, NULL past the last. */
const rondo_backend *rdo_registry_at(size_t index);
rondo_status rdo_registry_add(const rondo_backend *backend);

#endif
