#version 450
// y += a * x, as bench_axpy in ../kernels.c.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer target { float y[]; };
layout(std430, binding = 1) readonly buffer source { float x[]; };
layout(push_constant) uniform values { float a; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    y[i] += a * x[i];
}
