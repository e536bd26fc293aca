/* Runs a step by key: the first call runs it, the second records it, later ones replay. Where a step cannot be
 * recorded it runs eagerly, and says why. */
#include <rondo/kernel_lang.h>
#include "must.h"

RONDO_KERNEL(add_one, RONDO_NO_GROUP, RONDO_INOUT(int32_t, x))
{
    RONDO_ITEMS(i) {
        x[i]++;
    }
}

enum { COUNT = 4 };

typedef struct step_args {
    rondo_kernel *add_one;
    rondo_buffer x;
} step_args;

static rondo_status step(rondo_stream *stream, void *user) {
    const step_args *args = user;
    return add_one_launch(stream, args->add_one, rondo_grid_1d(COUNT), rondo_whole(args->x), "add one");
}

/* A read waits for a result, which a recording does not have. */
static rondo_status step_that_reads(rondo_stream *stream, void *user) {
    const step_args *args = user;
    int32_t values[COUNT];
    const rondo_status status = step(stream, user);
    return status ? status : rondo_read(stream, rondo_whole(args->x), values, "look at x");
}

static const char *const mode_names[] = {"eager", "captured", "replayed", "fallback"};

static void run(rondo_stream *stream, uint64_t key, rondo_step_fn fn, step_args *args) {
    rondo_run_info info;
    int32_t values[COUNT];
    must(rondo_run(stream, key, fn, args, &info));
    must(rondo_read(stream, rondo_whole(args->x), values, "x"));
    printf("key %llu: %-8s x[0] = %d", (unsigned long long)key, mode_names[info.last_mode], values[0]);
    if (info.fallback_reason) {
        rondo_fault fault;
        must(rondo_fault_get(info.fallback_reason, &fault));
        printf("   (%s: %s)", rondo_code_name(rondo_status_code(info.fallback_reason)), fault.message);
    }
    puts("");
}

int main(void) {
    const int32_t zero = 0;
    rondo_device *device;
    rondo_stream *stream;
    step_args args;
    must(rondo_device_open("cpu", NULL, &device));
    must(rondo_stream_create(device, &stream));
    must(add_one_create(device, &args.add_one));
    must(rondo_buffer_create(stream, COUNT * sizeof(int32_t), RONDO_USAGE_GENERAL, &args.x));
    must(rondo_fill(stream, rondo_whole(args.x), &zero, sizeof zero, "clear x"));

    for (int i = 0; i < 4; i++) run(stream, 1, step, &args);
    for (int i = 0; i < 3; i++) run(stream, 2, step_that_reads, &args);
    must(rondo_run_forget(stream, 1));
    puts("key 1 is forgotten");
    run(stream, 1, step, &args);

    rondo_buffer_release(args.x);
    rondo_kernel_release(args.add_one);
    rondo_stream_release(stream);
    rondo_device_release(device);
    return 0;
}
