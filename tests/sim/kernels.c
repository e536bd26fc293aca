#include "kernels.h"

#include <string.h>

#define BYTES(param) ((uint8_t *)call->args[param])

static uint8_t value_of(const rondo_native_call *call, int param) {
    uint32_t value;
    memcpy(&value, call->args[param], sizeof value);
    return (uint8_t)value;
}

static void mix(const rondo_native_call *call) {
    for (uint64_t i = call->first; i < call->last; i++) {
        BYTES(1)[i] = (uint8_t)(3u * BYTES(0)[i] + value_of(call, 2) + i);
    }
}

static void bump(const rondo_native_call *call) {
    for (uint64_t i = call->first; i < call->last; i++) BYTES(0)[i] = (uint8_t)(BYTES(0)[i] + value_of(call, 1));
}

static void add(const rondo_native_call *call) {
    for (uint64_t i = call->first; i < call->last; i++) BYTES(2)[i] = (uint8_t)(BYTES(0)[i] + BYTES(1)[i]);
}

/* A failure leaves rubbish behind, as real ones do. */
static void fail_if(const rondo_native_call *call) {
    uint32_t flag;
    memcpy(&flag, call->args[0], sizeof flag);
    for (uint64_t i = call->first; i < call->last; i++) {
        BYTES(1)[i] = flag != 0 ? 0xee : (uint8_t)(value_of(call, 2) ^ i);
        if (flag != 0 && i == call->first + 2) break;
    }
    if (flag != 0) rondo_native_fail(call, flag);
}

static void next(const rondo_native_call *call) {
    for (uint64_t i = call->first; i < call->last; i++) BYTES(1)[i] = (uint8_t)(BYTES(0)[i] + 1);
}

static const rondo_param mix_params[] = {
    {"a", RONDO_PARAM_IN, 1, 1, false}, {"out", RONDO_PARAM_OUT, 1, 1, false}, {"k", RONDO_PARAM_VALUE, 4, 1, false}};
static const rondo_param bump_params[] = {{"x", RONDO_PARAM_INOUT, 1, 1, false}, {"k", RONDO_PARAM_VALUE, 4, 1, false}};
static const rondo_param add_params[] = {
    {"a", RONDO_PARAM_IN, 1, 1, false}, {"b", RONDO_PARAM_IN, 1, 1, false}, {"out", RONDO_PARAM_OUT, 1, 1, false}};
static const rondo_param fail_if_params[] = {{"flag", RONDO_PARAM_IN, 4, 1, false},
                                             {"out", RONDO_PARAM_OUT, 1, 1, false},
                                             {"k", RONDO_PARAM_VALUE, 4, 1, false}};
static const rondo_param next_params[] = {{"a", RONDO_PARAM_IN, 1, 1, true}, {"out", RONDO_PARAM_OUT, 1, 1, true}};

const rondo_kernel_desc sim_kernels[SIM_KERNELS] = {
    [SIM_MIX] = {.name = "mix", .params = mix_params, .param_count = 3, .native = mix},
    [SIM_BUMP] = {.name = "bump", .params = bump_params, .param_count = 2, .native = bump},
    [SIM_ADD] = {.name = "add", .params = add_params, .param_count = 3, .native = add},
    [SIM_FAIL_IF] = {
        .name = "fail_if", .params = fail_if_params, .param_count = 3, .native = fail_if, .can_fail = true},
    [SIM_NEXT] = {.name = "next", .params = next_params, .param_count = 2, .native = next},
};
