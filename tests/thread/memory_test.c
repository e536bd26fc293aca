/* Memory that moves, and memory that runs short, while other threads use it. */
#include "threads.h"

enum { KIB = 1024, MIB = 1024 * 1024, SIZE = 100 * KIB, SIZE_WORDS = SIZE / 8, MOVED = 4, DEVICES = 12 };

typedef struct scene {
    rondo_device *device;
    kernels k;
    rondo_stream *streams[2];
    rondo_buffer moved[MOVED]; /* at home on queue 0, on pages that become outdated */
    rondo_graph *graph;        /* copies 0 to 1, whose pages it keeps */
    _Atomic bool done;
    uint64_t seed;
} scene;

static rondo_buffer make_large(rondo_stream *stream, uint64_t size, uint64_t value) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    NEED_OK(rondo_buffer_create(stream, size, RONDO_USAGE_GENERAL, &buffer));
    NEED_OK(rondo_fill(stream, rondo_whole(buffer), &value, 8, NULL));
    return buffer;
}

static void open_scene(scene *s, const rondo_memory_layout *layout) {
    rondo_device_desc desc = {.max_queues = 2, .workers = 1, .memory = *layout};
    *s = (scene){.seed = test_seed()};
    OK(rondo_device_open("cpu", &desc, &s->device));
    s->k = load_kernels(s->device);
    for (uint32_t i = 0; i < 2; i++) s->streams[i] = stream_on(s->device, 2, i);
    expect_no_trouble();
}

static void close_scene(scene *s) {
    rondo_graph_release(s->graph);
    for (int i = 0; i < MOVED; i++) rondo_buffer_release(s->moved[i]);
    for (int i = 0; i < 2; i++) rondo_stream_release(s->streams[i]);
    release_kernels(&s->k);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

static void check_large(rondo_stream *stream, rondo_buffer buffer, uint64_t *words, uint64_t size) {
    NEED_OK(rondo_read(stream, rondo_whole(buffer), words, NULL));
    NEED(is_even(words, (size_t)size / 8));
}

/* Each larger allocation outdates the pages so far; the trims empty them. */
static void outgrow(scene *s, uint64_t mib) {
    rondo_buffer large = make_large(s->streams[0], mib * MIB, mib);
    NEED_OK(rondo_device_trim(s->device, NULL));
    NEED_OK(rondo_stream_trim(s->streams[0]));
    rondo_buffer_release(large);
    NEED_OK(rondo_device_trim(s->device, NULL));
}

static void *address_of(scene *s, rondo_buffer buffer) {
    void *data = NULL;
    NEED_OK(rondo_map(s->streams[0], rondo_whole(buffer), RONDO_READS, &data));
    NEED_OK(rondo_unmap(s->streams[0], rondo_whole(buffer)));
    return data;
}

static void move_or_use(int index, void *user) {
    scene *s = user;
    uint64_t state = s->seed * 50 + (uint64_t)index, *words = calloc(SIZE_WORDS, 8);
    rondo_stream *stream = s->streams[index & 1];
    for (uint64_t mib = 1; index == 0 && mib < 13; mib += 2) outgrow(s, mib);
    if (index == 0) atomic_store(&s->done, true);
    while (index != 0 && words != NULL && !atomic_load(&s->done) && !atomic_load(&in_trouble)) {
        uint64_t value = next_random(&state);
        rondo_buffer target = s->moved[below(&state, MOVED)], source = s->moved[below(&state, MOVED)];
        switch (below(&state, 4)) {
        case 0: NEED_OK(rondo_fill(stream, rondo_whole(target), &value, 8, NULL)); break;
        case 1: NEED_OK(rondo_copy(stream, rondo_whole(target), rondo_whole(source), NULL)); break;
        case 2: NEED_OK(rondo_graph_replay(s->graph, stream)); break;
        default: check_large(stream, target, words, SIZE);
        }
    }
    free(words);
}

/* [M5] [T9] [W3] */
static void memory_moves_between_operations_and_never_during_one(void **state) {
    const rondo_memory_layout layout = {.page_min_bytes = 512 * KIB, .page_max_bytes = 16 * MIB};
    (void)state;
    for (int round = 0; round < DEVICES; round++) {
        scene s;
        open_scene(&s, &layout);
        rondo_buffer filler = RONDO_NO_BUFFER;
        for (uint64_t i = 0; i < MOVED; i++) {
            /* What the graph keeps in place has a page of its own, so that the others can leave theirs. */
            if (i == 2) filler = make_large(s.streams[0], 300 * KIB, 0);
            s.moved[i] = make_large(s.streams[0], SIZE, i);
        }
        rondo_buffer_release(filler);
        OK(rondo_capture_prepare(s.streams[1]));
        OK(rondo_capture_begin(s.streams[1]));
        OK(rondo_copy(s.streams[1], rondo_whole(s.moved[1]), rondo_whole(s.moved[0]), NULL));
        OK(rondo_capture_end(s.streams[1], RONDO_END_DEFAULT, &s.graph));
        run_threads(4, move_or_use, &s);
        const void *kept = address_of(&s, s.moved[0]), *left = address_of(&s, s.moved[2]);
        outgrow(&s, 14);
        assert_ptr_equal(address_of(&s, s.moved[0]), kept);
        assert_ptr_not_equal(address_of(&s, s.moved[2]), left);
        expect_no_trouble();
        close_scene(&s);
    }
}

/* ---- little memory ---- */

static void fill_up(int index, void *user) {
    scene *s = user;
    uint64_t state = s->seed * 60 + (uint64_t)index, *words = calloc(SIZE_WORDS, 8);
    rondo_stream *stream = s->streams[index & 1];
    for (int i = 0; words != NULL && i < 250 && !atomic_load(&in_trouble); i++) {
        rondo_buffer held[6];
        uint64_t values[6];
        int count = 0;
        for (; count < 6; count++) {
            rondo_status status = rondo_buffer_create(stream, SIZE, RONDO_USAGE_GENERAL, &held[count]);
            NEED_ONE_OF(status, RONDO_NO_DEVICE_MEMORY);
            if (status != RONDO_OK) break;
            values[count] = next_random(&state);
            NEED_OK(rondo_fill(stream, rondo_whole(held[count]), &values[count], 8, NULL));
        }
        for (int b = 0; b < count; b++) {
            check_large(s->streams[b & 1], held[b], words, SIZE);
            NEED(words[0] == values[b]);
            rondo_buffer_release(held[b]);
        }
    }
    free(words);
}

/* [M4] [E3] Some allocations fail, which changes nothing; once all is released there is room again. */
static void threads_that_share_too_little_memory_get_it_or_a_clear_error(void **state) {
    const rondo_memory_layout layout = {.page_min_bytes = 512 * KIB,
                                        .page_max_bytes = 2 * MIB,
                                        .shared_cap_bytes = 2 * MIB};
    (void)state;
    scene s;
    open_scene(&s, &layout);
    run_threads(4, fill_up, &s);
    OK(rondo_device_trim(s.device, NULL));
    for (int i = 0; i < MOVED; i++) s.moved[i] = make_large(s.streams[0], SIZE, 1);
    expect_no_trouble();
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_moves_between_operations_and_never_during_one),
        cmocka_unit_test(threads_that_share_too_little_memory_get_it_or_a_clear_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
