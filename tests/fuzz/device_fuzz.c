/* Any text is a device's name, and any bytes are its options. What is opened works; what is not says why. */
#include "backend/opencl/parts.h"
#include "fuzz.h"

#include <rondo/rondo.h>

/* Too much memory is no error here: the device says that there is not so much. */
FUZZ_OPTIONS("allocator_may_return_null=1")

/* Opening must not depend on the drivers that this machine has. */
static void *no_library(const char *name) {
    (void)name;
    return NULL;
}

/* What the name stands for: "BACKEND" or "BACKEND:NUMBER", and of each backend there is one device. */
static bool names_a_device(const char *name) {
    static const char *const backends[] = {"cpu", "null", "sim"};
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        size_t length = strlen(backends[i]);
        if (strncmp(name, backends[i], length) != 0) continue;
        const char *rest = name + length;
        if (rest[0] == '\0') return true;
        return rest[0] == ':' && rest[1] == '0' && rest[1 + strspn(rest + 1, "0")] == '\0';
    }
    return false;
}

/* Some size: near a small power of two, or near one that no memory has. */
static uint64_t any_size(fuzz_bytes *from) {
    uint64_t shift = fuzz_take(from, 1) % 30, near = fuzz_take(from, 1);
    if (near == 0) return 0;
    uint64_t size = UINT64_C(1) << (shift < 24 ? shift : shift + 34);
    return size + (near < 200 ? 0 : near - 228);
}

static rondo_device_desc any_desc(fuzz_bytes *from) {
    rondo_device_desc desc = {0};
    uint64_t *sizes[] = {&desc.memory.small_page_bytes, &desc.memory.small_max_bytes, &desc.memory.page_min_bytes,
                         &desc.memory.page_max_bytes,   &desc.memory.small_cap_bytes, &desc.memory.shared_cap_bytes,
                         &desc.memory.own_cap_bytes,    &desc.memory.host_cap_bytes};
    desc.max_queues = (uint32_t)fuzz_take(from, 2) % 1100;
    desc.workers = (uint32_t)fuzz_take(from, 2);
    if (desc.workers > 3 && desc.workers <= 1024) desc.workers = 2; /* threads are dear */
    desc.debug_fresh = fuzz_take(from, 1) % 2 != 0;
    if (fuzz_take(from, 1) == 255) desc.reserved[fuzz_take(from, 1) % 4] = fuzz_take(from, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) *sizes[i] = any_size(from);
    return desc;
}

/* A buffer, a host block and their bytes. Memory may be too much; then the call says so. */
static void use(rondo_device *device, uint64_t size) {
    uint8_t three = 3, back = 0;
    rondo_stream *stream = NULL;
    rondo_buffer buffer = RONDO_NO_BUFFER, block = RONDO_NO_BUFFER;
    HOLDS(rondo_stream_create(device, &stream) == RONDO_OK);
    rondo_code code = rondo_status_code(rondo_buffer_create(stream, size, RONDO_USAGE_GENERAL, &buffer));
    HOLDS(code == RONDO_CODE_OK || code == RONDO_NO_DEVICE_MEMORY || code == RONDO_NO_HOST_MEMORY ||
          code == RONDO_RANGE);
    if (code == RONDO_CODE_OK && size != 0) {
        rondo_span last = rondo_slice(buffer, size - 1, 1);
        HOLDS(rondo_fill(stream, last, &three, 1, NULL) == RONDO_OK);
        HOLDS(rondo_read(stream, last, &back, NULL) == RONDO_OK && back == 3);
    }
    code = rondo_status_code(rondo_host_create(stream, size, &block));
    HOLDS((code == RONDO_CODE_OK) == (rondo_host_data(block) != NULL) || size == 0);
    rondo_buffer_release(block);
    rondo_buffer_release(buffer);
    rondo_stream_release(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes from = {data, size};
    rondo_device *device = NULL;
    uint64_t left = 0;
    rdo_ocl_hooks.open_library = no_library;
    bool plain = fuzz_take(&from, 1) % 2 == 0;
    rondo_device_desc desc = any_desc(&from);
    uint64_t bytes = any_size(&from);
    char *name = fuzz_text(&from, 4096);
    rondo_status status = rondo_device_open(name, plain ? NULL : &desc, &device);
    HOLDS((status == RONDO_OK) == (device != NULL));
    if (plain) HOLDS((status == RONDO_OK) == names_a_device(name));
    if (status == RONDO_OK) {
        HOLDS(names_a_device(name));
        use(device, bytes);
        HOLDS(rondo_device_trim(device, &left) == RONDO_OK && left == 0);
    } else {
        char story[1024];
        HOLDS(rondo_fault_describe(status, story, sizeof story) != 0);
    }
    rondo_device_release(device);
    free(name);
    return 0;
}
