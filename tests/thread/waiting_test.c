/* Operations of different queues that touch the same bytes wait for each other, and only those. Host calls that
 * are held inside by a gate make the order certain without any clock. */
#include "threads.h"

#include <sched.h>

#include "device/device.h"

/* Two queues, a stream and a buffer on each. */
typedef struct pair {
    rondo_device *device;
    kernels k;
    rondo_stream *streams[2];
    rondo_buffer buffers[2];
} pair;

static void open_pair(pair *p) {
    p->device = open_cpu(2);
    p->k = load_kernels(p->device);
    for (uint32_t i = 0; i < 2; i++) {
        p->streams[i] = stream_on(p->device, 2, i);
        p->buffers[i] = make_buffer(p->streams[i], 0);
    }
    expect_no_trouble();
}

static void close_pair(pair *p) {
    for (int i = 0; i < 2; i++) {
        rondo_buffer_release(p->buffers[i]);
        rondo_stream_release(p->streams[i]);
    }
    release_kernels(&p->k);
    expect_empty(p->device);
    rondo_device_release(p->device);
}

/* Until so many threads wait for their turn or for memory to be idle. */
static void await_waiters(rondo_device *handle, uint32_t count) {
    const rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, handle);
    while (atomic_load(&device->engine.order.fast_waiters) < count) (void)sched_yield();
}

/* ---- a long host call ---- */

typedef struct held_call {
    pair p;
    gate entered, leave; /* of the host call */
    _Atomic int after;   /* set by whoever waited for it */
    _Atomic bool over;   /* the host call is at its end */
    rondo_access_mode mode;
    int home;            /* the host call runs on the other queue than its buffer's home, or on the same */
    rondo_buffer block;
} held_call;

static int hold(void *user, const rondo_host_access *accesses, size_t count) {
    held_call *h = user;
    uint64_t *words = accesses[0].data;
    gate_set(&h->entered, 1);
    gate_await(&h->leave, 1);
    for (size_t i = 0; count == 1 && (h->mode & RONDO_WRITES) != 0 && i < WORDS; i++) words[i] += 7;
    atomic_store(&h->over, true);
    return 0;
}

static void call_or_conflict(int index, void *user) {
    held_call *h = user;
    rondo_buffer buffer = h->p.buffers[h->home];
    if (index == 0) {
        rondo_host_access access = {.span = rondo_whole(buffer), .mode = h->mode};
        NEED_OK(rondo_host_call(h->p.streams[0], hold, h, NULL, &access, 1, "held"));
    } else if (index == 1) {
        gate_await(&h->entered, 1);
        /* Conflicts with what the host call reads or writes: it starts after its end. */
        NEED_OK(launch_bump(h->p.streams[1], &h->p.k, buffer));
        NEED(atomic_load(&h->over));
        atomic_fetch_add(&h->after, 1);
    } else {
        gate_await(&h->entered, 1);
        /* Touches nothing of the host call's: it runs at once, on a queue that is free, or it would never end. */
        rondo_device_stats stats;
        NEED_OK(rondo_device_get_stats(h->p.device, &stats));
        NEED_OK(rondo_span_status(rondo_whole(buffer)));
        NEED(!atomic_load(&h->over));
        gate_set(&h->leave, 1);
    }
}

/* [W3] Reads and writes alike, with the memory at home on either queue. */
static void a_launch_waits_for_a_host_call_of_another_queue(void **state) {
    static const rondo_access_mode modes[] = {RONDO_READS, RONDO_WRITES, RONDO_READS_WRITES};
    (void)state;
    for (int round = 0; round < 60; round++) {
        held_call h = {.entered = GATE_INIT, .leave = GATE_INIT, .mode = modes[round % 3], .home = round & 1};
        open_pair(&h.p);
        run_threads(3, call_or_conflict, &h);
        assert_int_equal(atomic_load(&h.after), 1);
        uint64_t expected = h.mode == RONDO_READS ? 1 : 8;
        assert_int_equal(read_even(h.p.streams[0], h.p.buffers[h.home]), expected);
        close_pair(&h.p);
    }
}

/* The launch waits on queue 1, whose lock it holds; an operation on a third queue goes past both. */
static void bystander(int index, void *user) {
    held_call *h = user;
    if (index < 2) {
        if (index == 1) gate_await(&h->entered, 1);
        rondo_host_access access = {.span = rondo_whole(h->p.buffers[0]), .mode = RONDO_READS_WRITES};
        if (index == 0) NEED_OK(rondo_host_call(h->p.streams[0], hold, h, NULL, &access, 1, "held"));
        if (index == 1) NEED_OK(launch_bump(h->p.streams[1], &h->p.k, h->p.buffers[0]));
        return;
    }
    gate_await(&h->entered, 1);
    rondo_stream *third = stream_on(h->p.device, 3, 2);
    rondo_buffer own = make_buffer(third, 1);
    for (int i = 0; i < 20; i++) NEED_OK(launch_bump(third, &h->p.k, own));
    NEED(read_even(third, own) == 21);
    NEED(!atomic_load(&h->over));
    rondo_buffer_release(own);
    rondo_stream_release(third);
    gate_set(&h->leave, 1);
}

/* [W3] [E5] Work that has nothing to do with a waiting one is not held up. */
static void a_third_queue_goes_past_a_wait(void **state) {
    (void)state;
    for (int round = 0; round < 40; round++) {
        held_call h = {.entered = GATE_INIT, .leave = GATE_INIT, .mode = RONDO_READS_WRITES};
        h.p.device = open_cpu(3);
        h.p.k = load_kernels(h.p.device);
        for (uint32_t i = 0; i < 2; i++) {
            h.p.streams[i] = stream_on(h.p.device, 3, i);
            h.p.buffers[i] = make_buffer(h.p.streams[i], 0);
        }
        run_threads(3, bystander, &h);
        assert_int_equal(read_even(h.p.streams[1], h.p.buffers[0]), 8);
        close_pair(&h.p);
    }
}

static void wait_for_block(int index, void *user) {
    held_call *h = user;
    if (index == 0) {
        rondo_host_access access = {.span = rondo_whole(h->block), .mode = h->mode};
        NEED_OK(rondo_host_call(h->p.streams[0], hold, h, NULL, &access, 1, "held"));
    } else if (index == 1) {
        gate_await(&h->entered, 1);
        NEED_OK(rondo_host_wait(h->block));
        NEED(atomic_load(&h->over));
        NEED(((uint64_t *)rondo_host_data(h->block))[0] == ((h->mode & RONDO_WRITES) != 0 ? 7 : 0));
    } else {
        gate_await(&h->entered, 1);
        NEED(!rondo_host_is_idle(h->block));
        await_waiters(h->p.device, 1);
        gate_set(&h->leave, 1);
    }
}

/* [W7] A wait for a host block ends after the work that uses it, not before. */
static void a_wait_for_a_block_ends_after_the_work_on_it(void **state) {
    (void)state;
    for (int round = 0; round < 60; round++) {
        held_call h = {.entered = GATE_INIT, .leave = GATE_INIT};
        h.mode = round % 4 < 2 ? RONDO_READS_WRITES : RONDO_READS;
        open_pair(&h.p);
        OK(rondo_host_create(h.p.streams[round & 1], BYTES, &h.block));
        run_threads(3, wait_for_block, &h);
        assert_true(rondo_host_is_idle(h.block));
        rondo_buffer_release(h.block);
        close_pair(&h.p);
    }
}

/* [O4] A mapping is no work: whoever has mapped a block does not wait for himself. */
static void a_wait_for_a_block_that_is_mapped_returns(void **state) {
    (void)state;
    pair p;
    rondo_buffer block = RONDO_NO_BUFFER;
    void *data = NULL;
    open_pair(&p);
    OK(rondo_host_create(p.streams[0], BYTES, &block));
    OK(rondo_map(p.streams[1], rondo_whole(block), RONDO_READS_WRITES, &data));
    OK(rondo_host_wait(block));
    assert_true(rondo_host_is_idle(block));
    OK(rondo_unmap(p.streams[1], rondo_whole(block)));
    rondo_buffer_release(block);
    close_pair(&p);
}

/* A map is refused or waits, a read waits; either way the bytes are those after the call. */
static void map_or_read(int index, void *user) {
    held_call *h = user;
    rondo_buffer buffer = h->p.buffers[1];
    if (index == 0) {
        rondo_host_access access = {.span = rondo_whole(buffer), .mode = RONDO_READS_WRITES};
        NEED_OK(rondo_host_call(h->p.streams[0], hold, h, NULL, &access, 1, "held"));
    } else if (index == 1) {
        void *data = NULL;
        gate_await(&h->entered, 1);
        NEED_OK(rondo_map(h->p.streams[1], rondo_whole(buffer), RONDO_READS, &data));
        NEED(data != NULL && ((uint64_t *)data)[WORDS - 1] == 7);
        NEED_OK(rondo_unmap(h->p.streams[1], rondo_whole(buffer)));
    } else {
        gate_await(&h->entered, 1);
        gate_set(&h->leave, 1);
        NEED(read_even(h->p.streams[1], buffer) == 7);
    }
}

/* [O4] [W3] */
static void maps_and_reads_wait_for_a_host_call_of_another_queue(void **state) {
    (void)state;
    for (int round = 0; round < 60; round++) {
        held_call h = {.entered = GATE_INIT, .leave = GATE_INIT, .mode = RONDO_READS_WRITES};
        open_pair(&h.p);
        run_threads(3, map_or_read, &h);
        close_pair(&h.p);
    }
}

/* ---- both ways, many times ---- */

enum { PINGS = 10000 };

static void play_ping_pong(int index, void *user) {
    pair *p = user;
    rondo_stream *stream = p->streams[index];
    rondo_buffer mine = p->buffers[index], other = p->buffers[1 - index];
    /* Each reads what the other writes, so either must wait for the other all the time. */
    for (int i = 0; i < PINGS / 2 && !atomic_load(&in_trouble); i++) {
        NEED_OK(launch_bump(stream, &p->k, mine));
        NEED_OK(launch_bump(stream, &p->k, other));
    }
}

/* [W3] */
static void two_streams_count_in_each_others_buffers(void **state) {
    (void)state;
    pair p;
    open_pair(&p);
    run_threads(2, play_ping_pong, &p);
    for (int i = 0; i < 2; i++) assert_int_equal(read_even(p.streams[i], p.buffers[1 - i]), PINGS);
    close_pair(&p);
}

typedef struct ping_pong {
    pair p;
    gate turn;
} ping_pong;

static void take_turns(int index, void *user) {
    ping_pong *g = user;
    pair *p = &g->p;
    rondo_stream *stream = p->streams[index];
    for (uint64_t i = (uint64_t)index; i < PINGS && !atomic_load(&in_trouble); i += 2) {
        /* Number i copies the other's buffer to its own and adds 1: a value lost or late shows at once. */
        gate_await(&g->turn, i);
        NEED_OK(launch_copy(stream, &p->k, p->buffers[1 - index], p->buffers[index]));
        NEED_OK(launch_bump(stream, &p->k, p->buffers[index]));
        NEED(i % 64 > 1 || read_even(stream, p->buffers[index]) == i + 1);
        gate_set(&g->turn, i + 1);
    }
    gate_set(&g->turn, PINGS * 2); /* also after a trouble, so that the other ends */
}

/* [W3] */
static void a_value_goes_back_and_forth_unharmed(void **state) {
    (void)state;
    ping_pong g = {.turn = GATE_INIT};
    open_pair(&g.p);
    run_threads(2, take_turns, &g);
    assert_int_equal(read_even(g.p.streams[0], g.p.buffers[1]), PINGS);
    close_pair(&g.p);
}

typedef struct writer_reader {
    pair p;
    rondo_buffer large;
    _Atomic bool done;
} writer_reader;

enum { LARGE = 1 << 17 };

static void write_or_read(int index, void *user) {
    writer_reader *w = user;
    uint64_t *words = malloc(LARGE);
    if (index == 0) {
        for (uint64_t i = 1; i <= 400; i++) NEED_OK(rondo_fill(w->p.streams[0], rondo_whole(w->large), &i, 8, NULL));
        atomic_store(&w->done, true);
    } else {
        uint64_t last = 0;
        while (!atomic_load(&w->done) && !atomic_load(&in_trouble)) {
            NEED_OK(rondo_read(w->p.streams[1], rondo_whole(w->large), words, NULL));
            NEED(is_even(words, LARGE / 8));
            NEED(words[0] >= last);
            last = words[0];
        }
    }
    free(words);
}

/* [W3] [P1] A fill by the home queue, which is fast, and reads from elsewhere, which are not, never overlap. */
static void reads_from_elsewhere_never_see_half_of_a_fill(void **state) {
    (void)state;
    writer_reader w = {.done = false};
    uint64_t zero = 0;
    open_pair(&w.p);
    for (uint32_t home = 0; home < 2; home++) {
        atomic_store(&w.done, false);
        OK(rondo_buffer_create(w.p.streams[home], LARGE, RONDO_USAGE_GENERAL, &w.large));
        OK(rondo_fill(w.p.streams[home], rondo_whole(w.large), &zero, 8, NULL));
        run_threads(3, write_or_read, &w);
        rondo_buffer_release(w.large);
    }
    close_pair(&w.p);
}

/* ---- events ---- */

typedef struct event_pair {
    pair p;
    rondo_event *events[2];
} event_pair;

static void record_and_wait(int index, void *user) {
    event_pair *e = user;
    rondo_stream *stream = e->p.streams[index & 1];
    rondo_event *mine = e->events[index & 1], *other = e->events[1 - (index & 1)];
    NEED_OK(rondo_event_retain(mine));
    for (int i = 0; i < 1000 && !atomic_load(&in_trouble); i++) {
        uint64_t elapsed = 0;
        NEED_OK(rondo_event_record(stream, mine, "point"));
        NEED_OK(rondo_event_wait(stream, mine, "wait"));
        NEED_OK(rondo_event_status(mine));
        NEED_OK(rondo_event_sync(mine));
        NEED_ONE_OF(rondo_event_elapsed(mine, other, &elapsed), RONDO_STATE); /* the other may not have come so far */
    }
    rondo_event_release(mine);
}

/* [C24] [E5] */
static void events_are_recorded_and_awaited_from_four_threads(void **state) {
    (void)state;
    event_pair e = {.events = {NULL, NULL}};
    open_pair(&e.p);
    for (int i = 0; i < 2; i++) OK(rondo_event_create(e.p.device, &e.events[i]));
    run_threads(4, record_and_wait, &e);
    for (int i = 0; i < 2; i++) rondo_event_release(e.events[i]);
    close_pair(&e.p);
}

static void unmap_beside_a_call(int index, void *user) {
    held_call *h = user;
    if (index == 0) {
        rondo_host_access access = {.span = rondo_whole(h->p.buffers[0]), .mode = RONDO_READS_WRITES};
        NEED_OK(rondo_host_call(h->p.streams[0], hold, h, NULL, &access, 1, "held"));
        return;
    }
    void *data = NULL;
    rondo_buffer other = make_buffer(h->p.streams[1], 1);
    gate_await(&h->entered, 1);
    NEED_OK(rondo_map(h->p.streams[1], rondo_whole(h->p.buffers[1]), RONDO_READS, &data));
    NEED_OK(rondo_map(h->p.streams[1], rondo_whole(other), RONDO_READS, &data));
    rondo_buffer_release(other); /* which ends its mapping */
    NEED_OK(rondo_unmap(h->p.streams[1], rondo_whole(h->p.buffers[1])));
    NEED(rondo_status_code(rondo_unmap(h->p.streams[1], rondo_whole(h->p.buffers[0]))) == RONDO_STATE);
    gate_set(&h->leave, 1);
}

/* [O4] Work under way is not taken for a mapping. */
static void a_mapping_ends_beside_work_that_goes_on(void **state) {
    (void)state;
    held_call h = {.entered = GATE_INIT, .leave = GATE_INIT, .mode = RONDO_READS_WRITES};
    open_pair(&h.p);
    run_threads(2, unmap_beside_a_call, &h);
    assert_int_equal(read_even(h.p.streams[0], h.p.buffers[0]), 7);
    close_pair(&h.p);
}

static held_call *held_kernel;

static void hold_native(const rondo_native_call *call) {
    (void)call;
    gate_set(&held_kernel->entered, 1);
    gate_await(&held_kernel->leave, 1);
    atomic_store(&held_kernel->over, true);
}

static void ask_beside_a_kernel(int index, void *user) {
    held_call *h = user;
    if (index == 0) {
        rondo_kernel *kernel = load(h->p.device, "hold", hold_native, NULL, 0);
        NEED_OK(rondo_launch(h->p.streams[0], kernel, rondo_grid_1d(1), NULL, 0, "hold"));
        rondo_kernel_release(kernel);
        return;
    }
    gate_await(&h->entered, 1);
    if (index > 1) {
        NEED_OK(rondo_host_wait(h->block));
        NEED(atomic_load(&h->over));
        return;
    }
    NEED(!rondo_host_is_idle(h->block));
    await_waiters(h->p.device, 2);
    gate_set(&h->leave, 1);
}

/* [W7] A launch at home tells nobody what it touches, so it may be anything that is at home there. Two wait for it. */
static void a_block_is_not_idle_while_its_queue_runs_a_launch(void **state) {
    (void)state;
    held_call h = {.entered = GATE_INIT, .leave = GATE_INIT};
    held_kernel = &h;
    open_pair(&h.p);
    OK(rondo_host_create(h.p.streams[0], BYTES, &h.block));
    run_threads(4, ask_beside_a_kernel, &h);
    assert_true(rondo_host_is_idle(h.block));
    rondo_buffer_release(h.block);
    close_pair(&h.p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_waits_for_a_host_call_of_another_queue),
        cmocka_unit_test(a_third_queue_goes_past_a_wait),
        cmocka_unit_test(a_wait_for_a_block_ends_after_the_work_on_it),
        cmocka_unit_test(a_wait_for_a_block_that_is_mapped_returns),
        cmocka_unit_test(maps_and_reads_wait_for_a_host_call_of_another_queue),
        cmocka_unit_test(two_streams_count_in_each_others_buffers),
        cmocka_unit_test(a_value_goes_back_and_forth_unharmed),
        cmocka_unit_test(reads_from_elsewhere_never_see_half_of_a_fill),
        cmocka_unit_test(events_are_recorded_and_awaited_from_four_threads),
        cmocka_unit_test(a_mapping_ends_beside_work_that_goes_on),
        cmocka_unit_test(a_block_is_not_idle_while_its_queue_runs_a_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
