/* Any text is a kernel's, and any text is what a driver says that does not compile it. The driver gets the text whole,
 * with the kernel language in the place of the line that includes it; the user gets a line of what the driver said. */
#include "backend/opencl/parts.h"
#include "fuzz.h"
#include "opencl_stub.h"

#include <rondo/rondo.h>

enum { MOST_TEXT = 4000 };

extern const char rdo_kernel_lang_text[];

static const char *skip(const char *at) {
    return at + strspn(at, " \t");
}

/* The line of the text that includes the language, NULL if none does. */
static const char *include_line(const char *text) {
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        const char *at = skip(line);
        if (*at != '#') continue;
        at = skip(at + 1);
        if (strncmp(at, "include", 7) == 0 && strncmp(skip(at + 7), "<rondo/kernel_lang.h>", 21) == 0) return line;
    }
    return NULL;
}

/* What the driver must get. The caller frees it. */
static char *expand(const char *text) {
    const char *line = include_line(text);
    size_t room = strlen(text) + strlen(rdo_kernel_lang_text) + 64;
    char *whole = calloc(1, room);
    if (whole == NULL) abort();
    if (line == NULL) {
        memcpy(whole, text, strlen(text));
        return whole;
    }
    unsigned number = 2;
    for (const char *c = text; c < line; c++) number += *c == '\n' ? 1 : 0;
    (void)snprintf(whole, room, "%.*s%s\n#line %u%s", (int)(line - text), text, rdo_kernel_lang_text, number,
                   line + strcspn(line, "\n"));
    return whole;
}

static void compile(rondo_device *device, const char *text, const char *log) {
    static const rondo_param params[] = {{"y", RONDO_PARAM_INOUT, 4, 4, false}};
    rondo_kernel_desc desc = {.name = "any", .params = params, .param_count = 1, .source = text};
    rondo_kernel *kernel = NULL;
    rondo_fault fault;
    opencl_stub.build_log = log[0] != '\0' ? log : NULL;
    opencl_stub.last_text[0] = '\0';
    rondo_status status = rondo_kernel_create(device, &desc, &kernel);
    char *whole = expand(text);
    HOLDS(strcmp(opencl_stub.last_text, whole) == 0);
    free(whole);
    if (status != RONDO_OK) {
        HOLDS(rondo_fault_get(status, &fault) == RONDO_OK && fault.message[0] != '\0');
        HOLDS(strchr(fault.message, '\n') == NULL);
    } else {
        HOLDS(log[0] == '\0');
    }
    rondo_kernel_release(kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes from = {data, size};
    rondo_device *device = NULL;
    if (unsetenv("XDG_CACHE_HOME") != 0 || unsetenv("HOME") != 0) abort(); /* no cache */
    opencl_stub_install(STUB_FINE);
    char *text = fuzz_text(&from, MOST_TEXT), *log = fuzz_text(&from, MOST_TEXT);
    HOLDS(rondo_device_open("opencl", NULL, &device) == RONDO_OK);
    compile(device, text, log);
    rondo_device_release(device);
    HOLDS(opencl_stub_live() == 0);
    free(text);
    free(log);
    return 0;
}
