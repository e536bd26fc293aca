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

static int call_nothing(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user, (void)accesses, (void)count;
    return 0;
}

/* A graph with a node of each kind that has something of its own to tell, dumped; the caller frees the text. */
static char *dump_of_all_kinds(rondo_dump_format format) {
    static const rondo_param params[] = {{"x", RONDO_PARAM_IN, 1, 1, false}, {"y", RONDO_PARAM_IN, 1, 1, false},
                                         {"a", RONDO_PARAM_VALUE, 3, 1, false}, {"z", RONDO_PARAM_OUT, 1, 1, false},
                                         {"b", RONDO_PARAM_VALUE, 1, 1, false}};
    const rondo_kernel_desc desc = {.name = "k", .params = params, .param_count = 5, .native = do_nothing};
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *kernel;
    rondo_buffer x, y, z, block;
    rondo_graph *graph;
    sink s = {0};
    assert_int_equal(rondo_device_open("cpu", NULL, &device), RONDO_OK);
    assert_int_equal(rondo_stream_create(device, &stream), RONDO_OK);
    assert_int_equal(rondo_kernel_create(device, &desc, &kernel), RONDO_OK);
    assert_int_equal(rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &x), RONDO_OK);
    assert_int_equal(rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &y), RONDO_OK);
    assert_int_equal(rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &z), RONDO_OK);
    assert_int_equal(rondo_host_create(stream, 64, &block), RONDO_OK);
    rondo_arg args[] = {rondo_arg_buffer(x), rondo_arg_buffer(y), rondo_arg_value("\x01\xab\x10", 3),
                        rondo_arg_buffer(z), rondo_arg_value("\x02", 1)};
    rondo_rect from = {rondo_slice(z, 8, 32), 16}, to = {rondo_slice(x, 0, 32), 8};
    rondo_host_access access = {.span = rondo_slice(block, 0, 16), .mode = RONDO_READS_WRITES};
    assert_int_equal(rondo_capture_prepare(stream), RONDO_OK);
    assert_int_equal(rondo_capture_begin(stream), RONDO_OK);
    assert_int_equal(rondo_fill(stream, rondo_whole(x), "\x0a\xff", 2, NULL), RONDO_OK);
    assert_int_equal(rondo_fill(stream, rondo_whole(y), "\x01", 1, NULL), RONDO_OK);
    assert_int_equal(rondo_launch(stream, kernel, (rondo_grid){4, 3, 2}, args, 5, "sum"), RONDO_OK);
    assert_int_equal(rondo_copy_2d(stream, to, from, 8, 2, NULL), RONDO_OK);
    assert_int_equal(rondo_host_call(stream, call_nothing, NULL, NULL, &access, 1, "call"), RONDO_OK);
    assert_int_equal(rondo_launch(stream, kernel, rondo_grid_1d(1), args, 5, NULL), RONDO_OK);
    assert_int_equal(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph), RONDO_OK);
    assert_int_equal(rondo_graph_dump(graph, format, collect, &s), RONDO_OK);
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_buffer_release(y);
    rondo_buffer_release(z);
    rondo_buffer_release(block);
    rondo_kernel_release(kernel);
    rondo_stream_release(stream);
    rondo_device_release(device);
    return s.text;
}

/* [O8] Names in the order in which nodes name buffers first, and one name for each. */
static void a_text_tells_all_of_each_node(void **state) {
    (void)state;
    char *text = dump_of_all_kinds(RONDO_DUMP_TEXT);
    assert_string_equal(text, "rondo graph, 6 nodes\n"
                              "0: fill out b0[0..64) pattern=0aff\n"
                              "1: fill out b1[0..64) pattern=01\n"
                              "2: launch k 4x3x2 x=in b0[0..64), y=in b1[0..64), z=out b2[0..64) a=01ab10 b=02"
                              " label=\"sum\" after 0,1\n"
                              "3: copy_2d out b0[0..16)/2x8@8, in b2[8..32)/2x8@16 after 2\n"
                              "4: host_call inout h3[0..16) label=\"call\"\n"
                              "5: launch k 1x1x1 x=in b0[0..64), y=in b1[0..64), z=out b2[0..64) a=01ab10 b=02"
                              " after 0,1,2,3\n");
    free(text);
}

/* [O8] */
static void the_dot_form_has_each_node_and_each_edge_once(void **state) {
    (void)state;
    char *dot = dump_of_all_kinds(RONDO_DUMP_DOT);
    assert_string_equal(dot, "digraph rondo {\n"
                             "  node [shape=box, fontname=\"monospace\"];\n"
                             "  n0 [label=\"0: fill\\nout b0[0..64)\"];\n"
                             "  n1 [label=\"1: fill\\nout b1[0..64)\"];\n"
                             "  n2 [label=\"2: sum\\nk 4x3x2\\nx=in b0[0..64)\\ny=in b1[0..64)\\nz=out b2[0..64)\"];\n"
                             "  n0 -> n2;\n"
                             "  n1 -> n2;\n"
                             "  n3 [label=\"3: copy_2d\\nout b0[0..16)/2x8@8\\nin b2[8..32)/2x8@16\"];\n"
                             "  n2 -> n3;\n"
                             "  n4 [label=\"4: call\\nhost_call\\ninout h3[0..16)\"];\n"
                             "  n5 [label=\"5: k 1x1x1\\nx=in b0[0..64)\\ny=in b1[0..64)\\nz=out b2[0..64)\"];\n"
                             "  n0 -> n5;\n"
                             "  n1 -> n5;\n"
                             "  n2 -> n5;\n"
                             "  n3 -> n5;\n"
                             "}\n");
    free(dot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_has_a_line_for_each_node_whatever_its_names_hold),
        cmocka_unit_test(a_text_holds_a_long_label_to_its_end),
        cmocka_unit_test(the_dot_form_quotes_the_names_of_parameters),
        cmocka_unit_test(the_dot_form_names_label_kernel_grid_and_bytes),
        cmocka_unit_test(a_text_tells_all_of_each_node),
        cmocka_unit_test(the_dot_form_has_each_node_and_each_edge_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
