#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "parts.h"

/* A rule at work. */
struct rule {
    rondo_sim_fault fault;
    uint64_t seen; /* calls of its kind since it was added */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rule rules[RONDO_SIM_MAX_FAULTS]; /* oldest first; under the lock */
static size_t rule_count;
static _Atomic bool armed; /* there are rules; without any, calls take no lock */
static _Atomic uint64_t calls[RONDO_SIM_CALLS], failed, fresh_bytes_read;

static bool makes_sense(const rondo_sim_fault *fault) {
    return fault != NULL && (unsigned)fault->call < RONDO_SIM_CALLS && fault->result > RONDO_BACKEND_DONE &&
           fault->result <= RONDO_BACKEND_DEVICE_LOST && fault->nth != 0 && fault->reserved == 0 &&
           (fault->result != RONDO_BACKEND_FAILED || fault->reason != 0);
}

bool rondo_sim_fail(const rondo_sim_fault *fault) {
    if (!makes_sense(fault)) return false;
    (void)pthread_mutex_lock(&lock);
    bool added = rule_count < RONDO_SIM_MAX_FAULTS;
    if (added) rules[rule_count++] = (struct rule){*fault, 0};
    atomic_store(&armed, rule_count != 0);
    (void)pthread_mutex_unlock(&lock);
    return added;
}

void rondo_sim_reset(void) {
    (void)pthread_mutex_lock(&lock);
    rule_count = 0;
    atomic_store(&armed, false);
    for (size_t i = 0; i < RONDO_SIM_CALLS; i++) atomic_store(&calls[i], 0);
    atomic_store(&failed, 0);
    atomic_store(&fresh_bytes_read, 0);
    (void)pthread_mutex_unlock(&lock);
}

void rondo_sim_get_counts(rondo_sim_counts *out_counts) {
    if (out_counts == NULL) return;
    memset(out_counts, 0, sizeof *out_counts);
    for (size_t i = 1; i < RONDO_SIM_CALLS; i++) {
        out_counts->calls[i] = atomic_load(&calls[i]);
        out_counts->calls[RONDO_SIM_ANY] += out_counts->calls[i];
    }
    out_counts->failed = atomic_load(&failed);
    out_counts->fresh_bytes_read = atomic_load(&fresh_bytes_read);
}

void rdo_sim_count_fresh(uint64_t bytes) {
    if (bytes != 0) atomic_fetch_add(&fresh_bytes_read, bytes);
}

/* Counts the call for the rule; whether the rule makes it fail. */
static bool applies(struct rule *rule, rondo_sim_call call) {
    const rondo_sim_fault *fault = &rule->fault;
    if (fault->call != RONDO_SIM_ANY && fault->call != call) return false;
    rule->seen++;
    return rule->seen >= fault->nth && (fault->count == 0 || rule->seen - fault->nth < fault->count);
}

static bool is_over(const struct rule *rule) {
    const rondo_sim_fault *fault = &rule->fault;
    return fault->count != 0 && rule->seen >= fault->nth && rule->seen - fault->nth >= fault->count - 1;
}

bool rdo_sim_strikes(rondo_sim_call call, rondo_sim_fault *out_fault) {
    bool strikes = false;
    size_t kept = 0;
    atomic_fetch_add(&calls[call], 1);
    if (!atomic_load(&armed)) return false;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < rule_count; i++) {
        if (applies(&rules[i], call) && !strikes) {
            strikes = true;
            *out_fault = rules[i].fault;
        }
        if (!is_over(&rules[i])) rules[kept++] = rules[i];
    }
    rule_count = kept;
    atomic_store(&armed, rule_count != 0);
    (void)pthread_mutex_unlock(&lock);
    if (strikes) atomic_fetch_add(&failed, 1);
    return strikes;
}

rondo_backend_result rdo_sim_stop(const rondo_sim_fault *fault, rondo_backend_outcome *outcome) {
    outcome->node = 0;
    outcome->reason = fault->reason;
    (void)snprintf(outcome->message, sizeof outcome->message, "a rule of the simulation made it fail");
    return fault->result;
}
