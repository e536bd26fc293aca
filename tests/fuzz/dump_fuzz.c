/* Any text is a label, a kernel's name and a parameter's name. A graph that carries them is dumped in a form that can
 * be read: DOT with its braces and quotes in pairs, and text with a line for each node. */
#include "fuzz.h"

#include <rondo/rondo.h>

enum { MOST_TEXT = 2000, NODES = 3 };

typedef struct sink {
    char *text;
    size_t length;
} sink;

static void collect(void *user, const char *bytes, size_t length) {
    sink *s = user;
    s->text = realloc(s->text, s->length + length + 1);
    if (s->text == NULL) abort();
    memcpy(s->text + s->length, bytes, length);
    s->length += length;
    s->text[s->length] = '\0';
}

static void do_nothing(const rondo_native_call *call) {
    (void)call;
}

/* As Graphviz reads it. */
static bool is_dot(const char *text) {
    int depth = 0;
    bool quoted = false;
    for (const char *c = text; *c != '\0'; c++) {
        if (quoted && *c == '\\' && c[1] != '\0') {
            c++;
        } else if (*c == '"') {
            quoted = !quoted;
        } else if (!quoted && *c == '{') {
            depth++;
        } else if (!quoted && *c == '}' && --depth < 0) {
            return false;
        }
    }
    return depth == 0 && !quoted && strncmp(text, "digraph", 7) == 0;
}

/* A title and a line for each node, each of which begins with its number, whatever the names hold. */
static bool is_text(const char *text) {
    const char *line = strchr(text, '\n');
    for (int node = 0; node < NODES; node++) {
        char begin[16];
        (void)snprintf(begin, sizeof begin, "\n%d: ", node);
        if (line == NULL || strncmp(line, begin, strlen(begin)) != 0) return false;
        line = strchr(line + 1, '\n');
    }
    return line != NULL && line[1] == '\0';
}

static void check_dumps(rondo_graph *graph) {
    sink dot = {0}, text = {0};
    HOLDS(rondo_graph_dump(graph, RONDO_DUMP_DOT, collect, &dot) == RONDO_OK);
    HOLDS(rondo_graph_dump(graph, RONDO_DUMP_TEXT, collect, &text) == RONDO_OK);
    HOLDS(is_dot(dot.text));
    HOLDS(is_text(text.text));
    free(dot.text);
    free(text.text);
}

static void record(rondo_stream *stream, rondo_kernel *kernel, rondo_buffer x, const char *label) {
    uint32_t k = 7;
    rondo_graph *graph = NULL;
    const rondo_arg args[] = {rondo_arg_span(rondo_whole(x)), rondo_arg_value(&k, sizeof k)};
    HOLDS(rondo_capture_prepare(stream) == RONDO_OK);
    HOLDS(rondo_capture_begin(stream) == RONDO_OK);
    HOLDS(rondo_fill(stream, rondo_whole(x), &k, sizeof k, label) == RONDO_OK);
    HOLDS(rondo_launch(stream, kernel, rondo_grid_1d(1), args, 2, label) == RONDO_OK);
    HOLDS(rondo_fill(stream, rondo_whole(x), &k, sizeof k, NULL) == RONDO_OK);
    HOLDS(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph) == RONDO_OK);
    check_dumps(graph);
    rondo_graph_release(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes from = {data, size};
    char *label = fuzz_text(&from, MOST_TEXT), *name = fuzz_text(&from, MOST_TEXT);
    char *param = fuzz_text(&from, MOST_TEXT);
    const rondo_param params[] = {{param, RONDO_PARAM_INOUT, 4, 4, false},
                                  {strcmp(param, "k") == 0 ? "m" : "k", RONDO_PARAM_VALUE, 4, 4, false}};
    rondo_kernel_desc desc = {.name = name, .params = params, .param_count = 2, .native = do_nothing};
    rondo_device_desc few = {.max_queues = 1};
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    rondo_kernel *kernel = NULL;
    rondo_buffer x;
    HOLDS(rondo_device_open("sim", &few, &device) == RONDO_OK);
    HOLDS(rondo_stream_create(device, &stream) == RONDO_OK);
    HOLDS(rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &x) == RONDO_OK);
    rondo_status status = rondo_kernel_create(device, &desc, &kernel);
    if (name[0] == '\0' || param[0] == '\0') {
        HOLDS(rondo_status_code(status) == RONDO_INVALID);
    } else {
        HOLDS(status == RONDO_OK);
        record(stream, kernel, x, label);
    }
    rondo_kernel_release(kernel);
    rondo_buffer_release(x);
    rondo_stream_release(stream);
    rondo_device_release(device);
    free(label);
    free(name);
    free(param);
    return 0;
}
