/* The OpenCL backend: kernels compiled from text at run time, on any device whose driver an OpenCL loader finds. */
#ifndef RDO_BACKEND_OPENCL_H
#define RDO_BACKEND_OPENCL_H

#include <rondo/backend.h>

extern const rondo_backend rdo_backend_opencl;

#endif
