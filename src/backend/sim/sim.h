/* The sim backend: plain memory, native kernels, and failures on demand. Its public side is <rondo/sim.h>. */
#ifndef RDO_BACKEND_SIM_H
#define RDO_BACKEND_SIM_H

#include <rondo/backend.h>

extern const rondo_backend rdo_backend_sim;

#endif
