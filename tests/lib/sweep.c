#include "scene.h"

#include <rondo/backend.h>

#include "backend/cpu/parts.h"
#include "base/alloc.h"
#include "fault/ledger.h"

/* ---- what strikes ---- */

static struct {
    uint64_t at, seen, strikes;
    bool lasting;
} plan;

void strike_at(uint64_t at, bool lasting) {
    plan.at = at;
    plan.lasting = lasting;
    plan.seen = plan.strikes = 0;
}

void strike_again(uint64_t after, bool lasting) {
    plan.at = plan.seen + after;
    plan.lasting = lasting;
}

bool strike_now(void) {
    plan.seen++;
    bool strikes = plan.at != 0 && (plan.lasting ? plan.seen >= plan.at : plan.seen == plan.at);
    plan.strikes += strikes;
    return strikes;
}

/* What struck stays known, so that the model goes on being lenient; the next strike_at forgets it. */
uint64_t strike_end(void) {
    plan.at = 0;
    return plan.strikes;
}

uint64_t strike_count(void) {
    return plan.strikes;
}

/* ---- hooks ---- */

static bool hook_alloc(void *user) {
    (void)user;
    return strike_now();
}

void sweep_hook_alloc(bool on) {
    rdo_alloc_set_hook(on ? hook_alloc : NULL, NULL);
}

static struct rdo_cpu_hooks real_hooks;
static bool cpu_may_fail;
static uint64_t cpu_live;

static void *count_alloc(size_t align_bytes, size_t size_bytes) {
    if (cpu_may_fail && strike_now()) return NULL;
    void *memory = real_hooks.alloc(align_bytes, size_bytes);
    cpu_live += memory != NULL;
    return memory;
}

static void count_release(void *memory, size_t align_bytes, size_t size_bytes) {
    cpu_live--;
    real_hooks.release(memory, align_bytes, size_bytes);
}

void sweep_hook_cpu(bool may_fail) {
    if (real_hooks.alloc == NULL) real_hooks = rdo_cpu_hooks;
    cpu_may_fail = may_fail;
    rdo_cpu_hooks.alloc = count_alloc;
    rdo_cpu_hooks.release = count_release;
}

/* ---- what a process keeps for ever ---- */

enum { MOST_CARRIED = 128, MORE_THAN_KEPT = 300 };

/* Pushes all stories but the newest, which have nothing attached, out of the ledger. */
static void flush_ledger(void) {
    for (int i = 0; i < MORE_THAN_KEPT; i++) {
        (void)rdo_fault_raise(RDO_NOWHERE("sweep"), RONDO_STATE, "a story of no consequence");
    }
}

/* Makes as many stories as a scene can need at once: the ledger keeps their room. */
static void fill_ledger(void) {
    uint64_t numbers[MOST_CARRIED];
    for (int i = 0; i < MOST_CARRIED; i++) {
        numbers[i] = rondo_status_number(rdo_fault_raise(RDO_NOWHERE("sweep"), RONDO_STATE, "a story that is carried"));
        rdo_fault_tag(numbers[i]);
    }
    flush_ledger();
    for (int i = 0; i < MOST_CARRIED; i++) rdo_fault_untag(numbers[i]);
    flush_ledger();
}

const char *scenario_device = "cpu";

static void play(scene *s, const scenario *what) {
    what->run(s);
    scene_verify(s);
}

void sweep_warm_up(const char *device) {
    strike_at(0, false);
    scenario_device = device;
    fill_ledger();
    for (size_t i = 0; i < scenario_count; i++) {
        scene s;
        (void)snprintf(scene_context, sizeof scene_context, "the first run of '%s'", scenarios[i].name);
        scene_open(&s, device, scenarios[i].desc);
        play(&s, &scenarios[i]);
        scene_release(&s);
        scene_close(&s);
    }
    flush_ledger();
}

uint64_t sweep_once(const scenario *what, const char *device, uint64_t at, bool lasting, uint64_t *out_failures) {
    scene s;
    scenario_device = device;
    (void)snprintf(scene_context, sizeof scene_context, "request %llu of '%s' on '%s', %s", (unsigned long long)at,
                   what->name, device, lasting ? "lasting" : "passing");
    flush_ledger();
    uint64_t blocks = rdo_alloc_live(), pages = cpu_live;
    strike_at(0, false);
    scene_open(&s, device, what->desc);
    strike_at(at, lasting);
    what->run(&s);
    uint64_t strikes = strike_end();
    s.strikes_seen = strikes;
    *out_failures = s.failures;
    scene_verify(&s);
    scene_release(&s);
    strike_at(0, false); /* from here on nothing may fail */
    s.strikes_seen = 0;
    play(&s, what);
    scene_release(&s);
    scene_close(&s);
    flush_ledger();
    SCENE_CHECK(rdo_alloc_live() == blocks, "%lld blocks are lost", (long long)(rdo_alloc_live() - blocks));
    SCENE_CHECK(cpu_live == pages, "%lld pages are lost", (long long)(cpu_live - pages));
    return strikes;
}
