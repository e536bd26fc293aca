#include "op/kernel.h"

#include <string.h>

#include "base/alloc.h"
#include "base/check.h"

enum { LARGEST_VALUE_BYTES = 4096, LARGEST_GROUP = 1024 };

#define REFUSE(code, ...) return rdo_fault_raise(where, code, __VA_ARGS__)

static bool zero_or_power_of_two(uint32_t n) {
    return (n & (n - 1)) == 0;
}

static rondo_status check_param(const rdo_where *where, const rondo_kernel_desc *desc, size_t i) {
    const rondo_param *param = &desc->params[i];
    if (param->name == NULL || param->name[0] == '\0') {
        REFUSE(RONDO_INVALID, "parameter %zu of kernel '%s' has no name", i, desc->name);
    }
    for (size_t j = 0; j < i; j++) {
        if (strcmp(desc->params[j].name, param->name) == 0) {
            REFUSE(RONDO_INVALID, "parameters %zu and %zu of kernel '%s' are both called '%s'", j, i, desc->name,
                   param->name);
        }
    }
    if (param->kind < RONDO_PARAM_IN || param->kind > RONDO_PARAM_VALUE) {
        REFUSE(RONDO_INVALID, "parameter '%s' of kernel '%s' is of unknown kind %d", param->name, desc->name,
               (int)param->kind);
    }
    if (!zero_or_power_of_two(param->align_bytes)) {
        REFUSE(RONDO_INVALID, "alignment %u of parameter '%s' of kernel '%s' is no power of two", param->align_bytes,
               param->name, desc->name);
    }
    if (param->kind == RONDO_PARAM_VALUE && param->size_bytes == 0) {
        REFUSE(RONDO_INVALID, "value parameter '%s' of kernel '%s' has size 0", param->name, desc->name);
    }
    if (param->kind == RONDO_PARAM_VALUE && param->size_bytes > LARGEST_VALUE_BYTES) {
        REFUSE(RONDO_RANGE, "value parameter '%s' of kernel '%s' has %u bytes, at most %d are allowed", param->name,
               desc->name, param->size_bytes, LARGEST_VALUE_BYTES);
    }
    return RONDO_OK;
}

static rondo_status check_group(const rdo_where *where, const rondo_kernel_desc *desc) {
    uint64_t items = 1;
    if (desc->group[0] == 0) return RONDO_OK;
    for (int d = 0; d < 3; d++) {
        if (desc->group[d] == 0) {
            REFUSE(RONDO_INVALID, "kernel '%s' has a group of 0 items in dimension %d; use 1", desc->name, d);
        }
        items *= desc->group[d] <= LARGEST_GROUP ? desc->group[d] : LARGEST_GROUP + 1;
    }
    if (items > LARGEST_GROUP) {
        REFUSE(RONDO_RANGE, "a group of kernel '%s' has %u x %u x %u items, at most %d are allowed", desc->name,
               desc->group[0], desc->group[1], desc->group[2], LARGEST_GROUP);
    }
    return RONDO_OK;
}

rondo_status rdo_kernel_check(const rdo_where *where, const rondo_kernel_desc *desc) {
    static const uint8_t zero[sizeof desc->reserved];
    if (desc->name == NULL || desc->name[0] == '\0') REFUSE(RONDO_INVALID, "the kernel has no name");
    if (memcmp(desc->reserved, zero, sizeof zero) != 0) {
        REFUSE(RONDO_INVALID, "reserved fields of kernel '%s' are not zero", desc->name);
    }
    if (desc->param_count > RONDO_MAX_PARAMS) {
        REFUSE(RONDO_RANGE, "kernel '%s' has %zu parameters, at most %d are allowed", desc->name, desc->param_count,
               RONDO_MAX_PARAMS);
    }
    if (desc->param_count != 0 && desc->params == NULL) {
        REFUSE(RONDO_INVALID, "kernel '%s' has parameters but params is null", desc->name);
    }
    for (size_t i = 0; i < desc->param_count; i++) RDO_TRY(check_param(where, desc, i));
    return check_group(where, desc);
}

static size_t text_bytes(const rondo_kernel_desc *desc) {
    size_t bytes = strlen(desc->name) + 1;
    for (size_t i = 0; i < desc->param_count; i++) bytes += strlen(desc->params[i].name) + 1;
    return bytes;
}

static char *put_text(char **room, const char *text) {
    size_t bytes = strlen(text) + 1;
    char *place = *room;
    memcpy(place, text, bytes);
    *room += bytes;
    return place;
}

rdo_kernel *rdo_kernel_new(rdo_books *books, const rondo_kernel_desc *desc) {
    size_t params_bytes = desc->param_count * sizeof(rondo_param);
    rdo_kernel *kernel = rdo_alloc_zero(1, sizeof *kernel + params_bytes + text_bytes(desc));
    if (kernel == NULL) return NULL;
    char *room = (char *)(kernel + 1) + params_bytes;
    kernel->books = books;
    kernel->refs = kernel->user_refs = 1;
    kernel->params = (rondo_param *)(kernel + 1);
    kernel->param_count = (uint32_t)desc->param_count;
    kernel->can_fail = desc->can_fail;
    kernel->name = put_text(&room, desc->name);
    for (size_t i = 0; i < desc->param_count; i++) {
        kernel->params[i] = desc->params[i];
        kernel->params[i].name = put_text(&room, desc->params[i].name);
        if (desc->params[i].align_bytes == 0) kernel->params[i].align_bytes = 1;
        if (rdo_param_is_buffer(&desc->params[i])) kernel->buffer_count++;
        else kernel->values_bytes += rdo_param_room(&desc->params[i]);
    }
    return kernel;
}

void rdo_kernel_delete(rdo_kernel *kernel) {
    rdo_free(kernel);
}

uint32_t rdo_kernel_find_param(const rdo_kernel *kernel, const char *name) {
    uint32_t i = 0;
    while (i < kernel->param_count && strcmp(kernel->params[i].name, name) != 0) i++;
    return i;
}
