/* The null backend: memory and bytes, no kernels. It is the template for new backends. */
#ifndef RDO_BACKEND_NULL_H
#define RDO_BACKEND_NULL_H

#include <rondo/backend.h>

extern const rondo_backend rdo_backend_null;

#endif
