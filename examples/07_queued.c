/* A stream that never holds its caller up: a worker plays its work, while this program goes on drawing. */
#include <rondo/kernel_lang.h>
#include <stdatomic.h>
#include "must.h"

/* y = y / x. Fails where x is zero. */
RONDO_KERNEL_CAN_FAIL(divide, RONDO_NO_GROUP, RONDO_IN(int32_t, x), RONDO_INOUT(int32_t, y))
{
    RONDO_ITEMS(i) {
        if (x[i] == 0) {
            RONDO_FAIL(1);
            continue;
        }
        y[i] /= x[i];
    }
}

/* Stands for work that takes its time: it ends when three frames were drawn meanwhile, and would never end if its
 * caller had to wait for it. */
static _Atomic int frames;

static void take_time(const rondo_native_call *call) {
    int32_t *y = call->args[0];
    while (atomic_load(&frames) < 3) {}
    *y = 100 * atomic_load(&frames);
}

static const rondo_param take_time_params[] = {
    {.name = "y", .kind = RONDO_PARAM_OUT, .size_bytes = sizeof(int32_t), .align_bytes = sizeof(int32_t)}};
static const rondo_kernel_desc take_time_desc = {
    .name = "take_time", .params = take_time_params, .param_count = 1, .native = take_time};

static void draw(void) {
    printf("frame %d is drawn while the work runs\n", atomic_load(&frames) + 1);
    atomic_fetch_add(&frames, 1);
}

int main(void) {
    const rondo_stream_desc queued = {.mode = RONDO_STREAM_QUEUED};
    const rondo_grid one = rondo_grid_1d(1);
    int32_t seven = 7, zero = 0, result = 0;
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *slow, *quotient;
    rondo_buffer x, y;

    must(rondo_device_open("cpu", NULL, &device));
    must(rondo_stream_create_with(device, &queued, &stream));
    must(rondo_kernel_create(device, &take_time_desc, &slow));
    must(divide_create(device, &quotient));
    must(rondo_buffer_create(stream, sizeof result, RONDO_USAGE_GENERAL, &x));
    must(rondo_buffer_create(stream, sizeof result, RONDO_USAGE_GENERAL, &y));

    /* Three calls that are back at once, though the first has not ended. What they were given was copied. */
    const rondo_arg args[] = {rondo_arg_buffer(y)};
    must(rondo_launch(stream, slow, one, args, 1, "slow"));
    must(rondo_write(stream, rondo_whole(x), &seven, "x"));
    must(divide_launch(stream, quotient, one, rondo_whole(x), rondo_whole(y), "y / 7"));
    seven = -1;
    for (int frame = 0; frame < 3; frame++) draw();
    must(rondo_read(stream, rondo_whole(y), &result, "y")); /* waits for what it reads */
    printf("300 / 7 = %d\n", result);

    /* A failure comes after its call is back. The next sync says it, and nobody reads what came of it. */
    must(rondo_write(stream, rondo_whole(x), &zero, "zero"));
    must(divide_launch(stream, quotient, one, rondo_whole(x), rondo_whole(y), "y / 0"));
    const rondo_status synced = rondo_stream_sync(stream);
    const rondo_status read = rondo_read(stream, rondo_whole(y), &result, "y");
    printf("sync: %s, read: %s\n", rondo_code_name(rondo_status_code(synced)),
           rondo_code_name(rondo_status_code(read)));

    rondo_buffer_release(x);
    rondo_buffer_release(y);
    rondo_kernel_release(slow);
    rondo_kernel_release(quotient);
    rondo_stream_release(stream);
    rondo_device_release(device);
    return 0;
}
