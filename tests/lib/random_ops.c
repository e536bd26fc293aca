#include "random_ops.h"

static void make_memory(random_ops *r, size_t i) {
    rdo_memory *memory = &r->memories[i];
    atomic_store(&memory->id, 100 + i);
    atomic_store(&memory->home, &r->homes[i % 2]);
    memory->page = &r->pages[i % 2];
    memory->page->store = &r->homes[i % 2];
    memory->size = RANDOM_BYTES;
    memory->page->address = 32 * (i % 2);
    memory->address = RANDOM_APART * (i + 1);
    memory->place.offset_bytes = memory->address - memory->page->address;
}

static void make_access(random_ops *r, rdo_access *access) {
    size_t i = random_below(RANDOM_MEMORIES);
    rdo_memory *memory = &r->memories[i];
    uint64_t rows = random_below(3) == 0 ? 1 + random_below(5) : 1;
    uint64_t row_bytes = random_below(8) == 0 ? 0 : 1 + random_below(rows == 1 ? 80 : 20);
    uint64_t pitch = row_bytes + (rows == 1 ? 0 : random_below(25));
    uint64_t extent = (rows - 1) * pitch + row_bytes;
    *access = (rdo_access){.memory = memory, .id = memory->id, .rows = rows, .row_bytes = row_bytes, .pitch = pitch};
    access->low = random_below(RANDOM_BYTES - extent + 1);
    access->mode = (uint8_t)(1 + random_below(3));
    rdo_access_locate(access);
}

static void make_op(random_ops *r, size_t n) {
    rdo_op *op = &r->ops[n];
    *op = (rdo_op){.kind = RONDO_NODE_HOST_CALL, .host = &r->work, .accesses = r->accesses[n]};
    r->list[n] = op;
    if (random_below(8) == 0) {
        op->kind = random_below(2) == 0 ? RONDO_NODE_EVENT_RECORD : RONDO_NODE_EVENT_WAIT;
        op->event = &r->events[random_below(2)];
        return;
    }
    if (random_below(2) == 0) {
        op->kind = RONDO_NODE_LAUNCH;
        op->kernel = &r->kernels[random_below(RANDOM_KERNELS)];
        op->values = r->values;
    }
    bool takes_none = op->kind == RONDO_NODE_LAUNCH && op->kernel->param_count == 0;
    op->access_count = takes_none ? 0 : (uint32_t)random_below(RANDOM_ACCESSES + 1);
    for (uint32_t i = 0; i < op->access_count; i++) {
        make_access(r, &r->accesses[n][i]);
        r->accesses[n][i].param = (uint16_t)i;
    }
}

void random_ops_make(random_ops *r) {
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < RANDOM_MEMORIES; i++) make_memory(r, i);
    for (size_t i = 0; i < RANDOM_KERNELS; i++) {
        r->kernels[i].loaded = &r->kernels[i];
        r->kernels[i].param_count = i + 1 != RANDOM_KERNELS ? RANDOM_ACCESSES : 0;
    }
    r->count = random_below(RANDOM_OPS + 1);
    for (size_t n = 0; n < r->count; n++) make_op(r, n);
}

static bool touches(const rdo_access *access, uint64_t address) {
    for (uint64_t row = 0; row < access->rows; row++) {
        uint64_t low = access->address + access->low + row * access->pitch;
        if (address >= low && address < low + access->row_bytes) return true;
    }
    return false;
}

static bool uses(const random_ops *r, size_t n, uint64_t address, uint32_t mode) {
    const rdo_op *op = &r->ops[n];
    for (uint32_t i = 0; i < op->access_count; i++) {
        if ((op->accesses[i].mode & mode) != 0 && touches(&op->accesses[i], address)) return true;
    }
    return false;
}

bool random_ops_reads(const random_ops *r, size_t n, uint64_t address) {
    return uses(r, n, address, RONDO_READS);
}

bool random_ops_writes(const random_ops *r, size_t n, uint64_t address) {
    return uses(r, n, address, RONDO_WRITES);
}
