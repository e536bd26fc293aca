/* The kernels of the suite, and launching them. */
#include "conform.h"

#include "test_kernels.kernels.h"

rondo_kernel *conform_kernel(struct conform *t, enum conform_kernel_id id) {
    const rondo_kernel_desc *descs[] = {
        [KERNEL_COPY] = &copy_i32_desc,   [KERNEL_ADD] = &add_i32_desc,         [KERNEL_SCALE] = &scale_i32_desc,
        [KERNEL_IOTA] = &iota_i32_desc,   [KERNEL_FAIL_IF] = &fail_if_desc,     [KERNEL_ADD_ALIAS] = &add_alias_desc,
        [KERNEL_COUNT] = &count_desc,     [KERNEL_AXPY] = &axpy_desc,           [KERNEL_SUM] = &sum_i32_desc,
        [KERNEL_STENCIL] = &stencil2d_desc, [KERNEL_FILL_3D] = &fill3d_desc,
    };
    if (t->kernels[id] == NULL) {
        CHECK_OK(rondo_kernel_create(t->device, descs[id], &t->kernels[id]));
        conform_keep_kernel(t, t->kernels[id]);
    }
    return t->kernels[id];
}

rondo_status conform_launch_copy(struct conform *t, rondo_stream *stream, rondo_span y, rondo_span x, uint64_t items,
                                 const char *label) {
    return copy_i32_launch(stream, conform_kernel(t, KERNEL_COPY), rondo_grid_1d(items), x, y, label);
}

rondo_status conform_launch_add(struct conform *t, rondo_stream *stream, rondo_span y, rondo_span x, rondo_span z,
                                uint64_t items, const char *label) {
    return add_i32_launch(stream, conform_kernel(t, KERNEL_ADD), rondo_grid_1d(items), x, z, y, label);
}

rondo_status conform_launch_scale(struct conform *t, rondo_stream *stream, rondo_span y, int32_t factor,
                                  uint64_t items, const char *label) {
    return scale_i32_launch(stream, conform_kernel(t, KERNEL_SCALE), rondo_grid_1d(items), y, factor, label);
}

rondo_status conform_launch_iota(struct conform *t, rondo_stream *stream, rondo_span y, int32_t start, uint64_t items,
                                 const char *label) {
    return iota_i32_launch(stream, conform_kernel(t, KERNEL_IOTA), rondo_grid_1d(items), y, start, label);
}

rondo_status conform_launch_fail_if(struct conform *t, rondo_stream *stream, rondo_span y, rondo_span flag,
                                    int32_t value, uint64_t items, const char *label) {
    return fail_if_launch(stream, conform_kernel(t, KERNEL_FAIL_IF), rondo_grid_1d(items), flag, y, value, label);
}

rondo_status conform_launch_add_alias(struct conform *t, rondo_stream *stream, rondo_span y, rondo_span x,
                                      uint64_t items, const char *label) {
    return add_alias_launch(stream, conform_kernel(t, KERNEL_ADD_ALIAS), rondo_grid_1d(items), x, y, label);
}

rondo_status conform_launch_count(struct conform *t, rondo_stream *stream, rondo_span counter, uint64_t items,
                                  const char *label) {
    return count_launch(stream, conform_kernel(t, KERNEL_COUNT), rondo_grid_1d(items), counter, label);
}
