/* Graphs as text: a line for each node and quotes in pairs, whatever the names in it hold. The fuzz target `dump` found
 * each of these. */
#include "unit.h"

#include <rondo/rondo.h>

enum { LONG = 3000 };

typedef struct sink {
    char *text;
    size_t length;
} sink;

static void collect(void *user, const char *bytes, size_t length) {
    sink *s = user;
    s->text = realloc(s->text, s->length + length + 1);
    assert_non_null(s->text);
    memcpy(s->text + s->length, bytes, length);
    s->length += length;
    s->text[s->length] = '\0';
}

static void do_nothing(const rondo_native_call *call) {
    (void)call;
}

/* The text of a graph of one launch. The caller frees it. */
static char *dump_of(const char *kernel_name, const char *param_name, const char *label, rondo_dump_format format) {
    const rondo_param params[] = {{param_name, RONDO_PARAM_INOUT, 4, 4, false}};
    rondo_kernel_desc desc = {.name = kernel_name, .params = params, .param_count = 1, .native = do_nothing};
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *kernel;
    rondo_buffer x;
    rondo_graph *graph;
    sink s = {0};
    assert_int_equal(rondo_device_open("cpu", NULL, &device), RONDO_OK);
    assert_int_equal(rondo_stream_create(device, &stream), RONDO_OK);
    assert_int_equal(rondo_kernel_create(device, &desc, &kernel), RONDO_OK);
    assert_int_equal(rondo_buffer_create(stream, 4, RONDO_USAGE_GENERAL, &x), RONDO_OK);
    assert_int_equal(rondo_fill(stream, rondo_whole(x), "", 1, NULL), RONDO_OK);
    assert_int_equal(rondo_capture_prepare(stream), RONDO_OK);
    assert_int_equal(rondo_capture_begin(stream), RONDO_OK);
    rondo_arg arg = rondo_arg_span(rondo_whole(x));
    assert_int_equal(rondo_launch(stream, kernel, rondo_grid_1d(1), &arg, 1, label), RONDO_OK);
    assert_int_equal(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph), RONDO_OK);
    assert_int_equal(rondo_graph_dump(graph, format, collect, &s), RONDO_OK);
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_kernel_release(kernel);
    rondo_stream_release(stream);
    rondo_device_release(device);
    return s.text;
}

static void check_text(const char *kernel, const char *param, const char *label, const char *line) {
    char *text = dump_of(kernel, param, label, RONDO_DUMP_TEXT);
    const char *node = strchr(text, '\n') + 1;
    assert_string_equal(node, line);
    free(text);
}

static void a_text_has_a_line_for_each_node_whatever_its_names_hold(void **state) {
    (void)state;
    check_text("k", "x", "plain", "0: launch k 1x1x1 x=inout b0[0..4) label=\"plain\"\n");
    check_text("k", "x", "a\n1: \"b\"\\", "0: launch k 1x1x1 x=inout b0[0..4) label=\"a\\n1: \\\"b\\\"\\\\\"\n");
    check_text("k\n", "x\n", NULL, "0: launch k\\n 1x1x1 x\\n=inout b0[0..4)\n");
}

static void a_text_holds_a_long_label_to_its_end(void **state) {
    char label[LONG], quoted[LONG + 2];
    (void)state;
    memset(label, 'a', sizeof label - 1);
    label[sizeof label - 1] = '\0';
    (void)snprintf(quoted, sizeof quoted, "%s\"\n", label);
    char *text = dump_of("k", "x", label, RONDO_DUMP_TEXT);
    assert_non_null(strstr(text, quoted));
    free(text);
    text = dump_of(label, label, "l", RONDO_DUMP_TEXT);
    assert_non_null(strstr(text, label));
    free(text);
}

static void the_dot_form_quotes_the_names_of_parameters(void **state) {
    (void)state;
    char *dot = dump_of("k", "\"x\"", NULL, RONDO_DUMP_DOT);
    assert_non_null(strstr(dot, "\\\"x\\\"=inout"));
    free(dot);
}

static void the_dot_form_names_label_kernel_grid_and_bytes(void **state) {
    (void)state;
    char *dot = dump_of("kern", "x", "a label", RONDO_DUMP_DOT);
    assert_non_null(strstr(dot, "n0 [label=\"0: a label\\nkern 1x1x1\\nx=inout b0[0..4)\"]"));
    free(dot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_has_a_line_for_each_node_whatever_its_names_hold),
        cmocka_unit_test(a_text_holds_a_long_label_to_its_end),
        cmocka_unit_test(the_dot_form_quotes_the_names_of_parameters),
        cmocka_unit_test(the_dot_form_names_label_kernel_grid_and_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
