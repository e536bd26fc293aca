/* Any numbers are spans, rectangles, sizes and patterns. A call is refused exactly if its bytes do not all lie inside,
 * reckoned here without any overflow; what the good calls did is then read back. Calls may also come in windows: a
 * window whose calls were all good becomes a graph, and its replay does what they say; any other does not. The random
 * programs of tests/sim know small numbers only; here they are all 64 bits wide. */
#include "fuzz.h"

#include <rondo/rondo.h>

enum { BUFFERS = 3, MOST_CALLS = 40, MOST_BYTES = 8192 };

/* As in device_fuzz.c. */
FUZZ_OPTIONS("allocator_may_return_null=1")

typedef unsigned __int128 wide;

typedef struct stage {
    rondo_device *device;
    rondo_stream *stream;
    rondo_buffer buffers[BUFFERS];
    uint8_t bytes[BUFFERS][MOST_BYTES]; /* as they should be; in a window, as its replay should leave them */
    bool records, doomed, kept;         /* a window is open; some call of it was refused; some was kept */
    uint8_t before[BUFFERS][MOST_BYTES]; /* the bytes when the window began */
} stage;

static const uint64_t sizes[BUFFERS] = {64, 1000, MOST_BYTES};

/* What somebody gave, with what is right and what is wrong about it. */
typedef struct place {
    rondo_span span;
    int buffer; /* -1: no such buffer */
    bool inside;
} place;

/* A number that is small, near the end of a buffer, near a power of two, or any. */
static uint64_t any_number(fuzz_bytes *from) {
    uint64_t how = fuzz_take(from, 1), near = fuzz_take(from, 1);
    if (how < 96) return near;
    if (how < 144) return sizes[how % BUFFERS] + near - 128;
    if (how < 192) return (UINT64_C(1) << (how % 64)) + near - 128;
    if (how < 240) return near - 256;
    return fuzz_take(from, 8);
}

static place any_place(stage *s, fuzz_bytes *from) {
    uint64_t which = fuzz_take(from, 1);
    place p = {.buffer = which < 240 ? (int)(which % BUFFERS) : -1};
    rondo_buffer buffer = p.buffer >= 0 ? s->buffers[p.buffer] : RONDO_NO_BUFFER;
    if (which == 250) buffer.id = fuzz_take(from, 8) | UINT64_C(1) << 63;
    if (which % 5 == 4) {
        p.span = rondo_whole(buffer);
        p.inside = true;
        return p;
    }
    uint64_t offset = any_number(from), size = any_number(from);
    p.span = rondo_slice(buffer, offset, size);
    if (size == RONDO_WHOLE && p.buffer >= 0 && offset <= sizes[p.buffer]) p.span.size_bytes = sizes[p.buffer] - offset;
    p.inside = p.buffer >= 0 && (wide)offset + p.span.size_bytes <= sizes[p.buffer];
    return p;
}

static uint64_t size_of(const place *p) {
    return p->span.size_bytes == RONDO_WHOLE && p->buffer >= 0 ? sizes[p->buffer] : p->span.size_bytes;
}

static bool lies_inside(const place *p) {
    return p->buffer >= 0 && p->inside;
}

static bool overlap(const place *a, const place *b) {
    return a->buffer == b->buffer && a->span.offset_bytes < b->span.offset_bytes + size_of(b) &&
           b->span.offset_bytes < a->span.offset_bytes + size_of(a);
}

/* Bytes that a refused call would have written are claimed [T8]: another may be right and yet meet them. */
static bool is_spoiled(rondo_status status, bool good) {
    return good && rondo_status_code(status) == RONDO_TAINTED;
}

/* Work that was issued; returns its status. */
static rondo_status issued(stage *s, rondo_status status, bool does_nothing) {
    s->doomed = s->doomed || (s->records && status != RONDO_OK);
    s->kept = s->kept || (status == RONDO_OK && !does_nothing);
    return status;
}

static void fill(stage *s, fuzz_bytes *from) {
    uint8_t pattern[16];
    place target = any_place(s, from);
    uint32_t bytes = (uint32_t)any_number(from);
    for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (uint8_t)(i + 1 + from->left);
    bool fits = bytes != 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0;
    bool good = lies_inside(&target) && fits && size_of(&target) % bytes == 0;
    rondo_status status = rondo_fill(s->stream, target.span, pattern, bytes, NULL);
    HOLDS((issued(s, status, size_of(&target) == 0) == RONDO_OK) == good);
    uint8_t *to = good ? s->bytes[target.buffer] + target.span.offset_bytes : NULL;
    for (uint64_t i = 0; good && i < size_of(&target); i++) to[i] = pattern[i % bytes];
}

static void copy(stage *s, fuzz_bytes *from) {
    place target = any_place(s, from), source = any_place(s, from);
    bool good = lies_inside(&target) && lies_inside(&source) && size_of(&target) == size_of(&source);
    rondo_status status = rondo_copy(s->stream, target.span, source.span, NULL);
    (void)issued(s, status, size_of(&target) == 0);
    HOLDS((status == RONDO_OK) == good || is_spoiled(status, good));
    if (status != RONDO_OK) return;
    memmove(s->bytes[target.buffer] + target.span.offset_bytes, s->bytes[source.buffer] + source.span.offset_bytes,
            (size_t)size_of(&target));
}

/* Whether `rows` rows lie in the span, one behind the other. */
static bool rows_fit(const place *p, uint64_t pitch, uint64_t row_bytes, uint64_t rows) {
    if (rows == 0 || row_bytes == 0) return true;
    return (wide)(rows - 1) * pitch + row_bytes <= size_of(p) && (rows == 1 || pitch >= row_bytes);
}

static void copy_2d(stage *s, fuzz_bytes *from) {
    place target = any_place(s, from), source = any_place(s, from);
    rondo_rect to = {target.span, any_number(from)}, of = {source.span, any_number(from)};
    uint64_t row_bytes = any_number(from), rows = any_number(from);
    bool inside = lies_inside(&target) && lies_inside(&source) && rows_fit(&target, to.pitch_bytes, row_bytes, rows) &&
                  rows_fit(&source, of.pitch_bytes, row_bytes, rows);
    rondo_status status = rondo_copy_2d(s->stream, to, of, row_bytes, rows, NULL);
    (void)issued(s, status, rows == 0 || row_bytes == 0);
    bool good = status == RONDO_OK || is_spoiled(status, inside);
    HOLDS(!good || inside || rows == 0 || row_bytes == 0);
    HOLDS(good || !inside || rows == 0 || row_bytes == 0 || overlap(&target, &source) || rows == 1);
    if (status != RONDO_OK || !inside) return;
    for (uint64_t i = 0; row_bytes != 0 && i < rows; i++) {
        memmove(s->bytes[target.buffer] + target.span.offset_bytes + i * to.pitch_bytes,
                s->bytes[source.buffer] + source.span.offset_bytes + i * of.pitch_bytes, (size_t)row_bytes);
    }
}

static void move_bytes(stage *s, fuzz_bytes *from, bool writes) {
    static uint8_t data[MOST_BYTES];
    place at = any_place(s, from);
    bool good = lies_inside(&at);
    memset(data, (int)(from->left & 255), sizeof data);
    rondo_status status = writes ? rondo_write(s->stream, at.span, data, NULL)
                                 : rondo_read(s->stream, at.span, data, NULL);
    bool full = writes && s->records && rondo_status_code(status) == RONDO_NO_ROOM; /* more than the warm-up wrote */
    bool forbidden = !writes && s->records && status != RONDO_OK;
    if (writes) (void)issued(s, status, size_of(&at) == 0);
    HOLDS((status == RONDO_OK) == good || (!writes && is_spoiled(status, good)) || full || forbidden);
    HOLDS(status != RONDO_OK || writes || !s->records);
    if (status != RONDO_OK) return;
    uint8_t *bytes = s->bytes[at.buffer] + at.span.offset_bytes;
    if (writes) memcpy(bytes, data, (size_t)size_of(&at));
    if (!writes) HOLDS(memcmp(bytes, data, (size_t)size_of(&at)) == 0);
}

static void map(stage *s, fuzz_bytes *from) {
    place at = any_place(s, from);
    void *data = NULL;
    uint32_t mode = (uint32_t)fuzz_take(from, 1) % 5;
    rondo_status status = rondo_map(s->stream, at.span, (rondo_access_mode)mode, &data);
    HOLDS((status == RONDO_OK) == (data != NULL));
    HOLDS(status != RONDO_OK || (lies_inside(&at) && size_of(&at) != 0 && mode >= 1 && mode <= 3 && !s->records));
    if (status != RONDO_OK) return;
    uint8_t *bytes = s->bytes[at.buffer] + at.span.offset_bytes;
    HOLDS(memcmp(data, bytes, (size_t)size_of(&at)) == 0);
    if ((mode & RONDO_WRITES) != 0) {
        memset(data, 0x5a, (size_t)size_of(&at));
        memset(bytes, 0x5a, (size_t)size_of(&at));
    }
    HOLDS(rondo_unmap(s->stream, at.span) == RONDO_OK);
}

static void create(stage *s, fuzz_bytes *from) {
    rondo_buffer buffer;
    uint64_t size = any_number(from);
    if (s->records) return; /* whether there is room is no matter of numbers */
    if (size > (1 << 20) && size < UINT64_C(1) << 60) size = UINT64_MAX - size; /* memory that a machine may have */
    rondo_status status = rondo_buffer_create(s->stream, size, (rondo_usage)(fuzz_take(from, 1) % 5), &buffer);
    HOLDS(status != RONDO_OK || size <= 1 << 20);
    rondo_buffer_release(buffer);
}

/* Statuses are numbers, too, that anybody can make up; so are keys. */
static void describe(stage *s, fuzz_bytes *from) {
    char room[300], whole[4096];
    rondo_fault fault;
    rondo_skip skips[4];
    rondo_status status = any_number(from) | any_number(from) << 16;
    size_t size = (size_t)fuzz_take(from, 2) % sizeof room;
    memset(room, 'x', sizeof room);
    size_t length = rondo_fault_describe(status, room, size);
    HOLDS(length == rondo_fault_describe(status, whole, sizeof whole));
    HOLDS(size == 0 || memchr(room, 0, size) != NULL);
    HOLDS(room[size] == 'x');
    HOLDS(rondo_code_name(rondo_status_code(status)) != NULL);
    rondo_status told = rondo_fault_get(status, &fault);
    HOLDS(told != RONDO_OK || fault.status == status);
    HOLDS(rondo_fault_chain(status, skips, 4) <= 4);
    (void)rondo_fault_root(status);
    HOLDS(rondo_run_forget(s->stream, status) == RONDO_OK);
}

/* A number that is no handle is refused by every call, and ignored by every release. */
static void guess_handle(fuzz_bytes *from) {
    void *handle = (void *)(uintptr_t)any_number(from); /* of another kind, or of nothing */
    rondo_device_info info;
    rondo_graph_info graph_info;
    size_t count;
    char name[RONDO_NAME_MAX];
    bool is_handle = rondo_stream_id(handle) != 0 || rondo_device_get_info(handle, &info) == RONDO_OK;
    if (is_handle) return;
    HOLDS(rondo_status_code(rondo_stream_sync(handle)) == RONDO_STALE);
    HOLDS(rondo_status_code(rondo_capture_prepare(handle)) == RONDO_STALE);
    HOLDS(rondo_status_code(rondo_graph_get_info(handle, &graph_info)) == RONDO_STALE);
    HOLDS(rondo_status_code(rondo_kernel_get_info(handle, name, &count)) == RONDO_STALE);
    HOLDS(rondo_status_code(rondo_event_status(handle)) == RONDO_STALE);
    HOLDS(!rondo_stream_is_capturing(handle));
    rondo_graph_release(handle);
    rondo_kernel_release(handle);
    rondo_event_release(handle);
}

/* ---- windows ---- */

/* The warm-up writes what is there already, so that the window has room for some writes. */
static void begin_window(stage *s) {
    HOLDS(rondo_capture_prepare(s->stream) == RONDO_OK);
    for (int i = 0; i < 4; i++) {
        HOLDS(rondo_write(s->stream, rondo_whole(s->buffers[2]), s->bytes[2], NULL) == RONDO_OK);
    }
    HOLDS(rondo_capture_begin(s->stream) == RONDO_OK);
    memcpy(s->before, s->bytes, sizeof s->before);
    s->records = true;
    s->doomed = s->kept = false;
}

/* A graph comes out exactly if no call was refused and some did something. */
static void end_window(stage *s) {
    rondo_graph *graph = NULL;
    rondo_code expected = s->doomed ? RONDO_DOOMED : s->kept ? RONDO_OK : RONDO_EMPTY;
    HOLDS(rondo_status_code(rondo_capture_end(s->stream, RONDO_END_DEFAULT, &graph)) == expected);
    HOLDS((graph != NULL) == (expected == RONDO_OK));
    s->records = false;
    if (graph != NULL) HOLDS(rondo_graph_replay(graph, s->stream) == RONDO_OK);
    if (graph == NULL) memcpy(s->bytes, s->before, sizeof s->bytes);
    rondo_graph_release(graph);
}

static void open_stage(stage *s) {
    rondo_device_desc desc = {.max_queues = 1};
    memset(s, 0, sizeof *s);
    HOLDS(rondo_device_open("sim", &desc, &s->device) == RONDO_OK);
    HOLDS(rondo_stream_create(s->device, &s->stream) == RONDO_OK);
    for (int i = 0; i < BUFFERS; i++) {
        HOLDS(rondo_buffer_create(s->stream, sizes[i], RONDO_USAGE_GENERAL, &s->buffers[i]) == RONDO_OK);
        HOLDS(rondo_write(s->stream, rondo_whole(s->buffers[i]), s->bytes[i], NULL) == RONDO_OK);
    }
}

static bool is_good(stage *s, int buffer, uint64_t at) {
    return rondo_span_status(rondo_slice(s->buffers[buffer], at, 1)) == RONDO_OK;
}

/* Byte by byte only where a refused call has claimed something. */
static void close_stage(stage *s) {
    static uint8_t data[MOST_BYTES];
    for (int i = 0; i < BUFFERS; i++) {
        if (rondo_read(s->stream, rondo_whole(s->buffers[i]), data, NULL) == RONDO_OK) {
            HOLDS(memcmp(data, s->bytes[i], (size_t)sizes[i]) == 0);
        }
        for (uint64_t at = 0; at < 64; at++) {
            if (!is_good(s, i, at)) continue;
            HOLDS(rondo_read(s->stream, rondo_slice(s->buffers[i], at, 1), data, NULL) == RONDO_OK);
            HOLDS(data[0] == s->bytes[i][at]);
        }
        rondo_buffer_release(s->buffers[i]);
    }
    rondo_stream_release(s->stream);
    rondo_device_release(s->device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static stage s;
    fuzz_bytes from = {data, size};
    open_stage(&s);
    for (int i = 0; i < MOST_CALLS && from.left != 0; i++) {
        uint64_t what = fuzz_take(&from, 1);
        if (what >= 248) {
            s.records ? end_window(&s) : begin_window(&s);
            continue;
        }
        switch (what % 9) {
        case 0: fill(&s, &from); break;
        case 1: copy(&s, &from); break;
        case 2: copy_2d(&s, &from); break;
        case 3: move_bytes(&s, &from, true); break;
        case 4: move_bytes(&s, &from, false); break;
        case 5: map(&s, &from); break;
        case 6: create(&s, &from); break;
        case 7: describe(&s, &from); break;
        default: guess_handle(&from); break;
        }
    }
    if (s.records) end_window(&s);
    close_stage(&s);
    return 0;
}
