/* Graphs as text: stable, complete, and well formed whatever the labels hold. */
#include "capture_tools.h"

struct text {
    char *bytes;
    size_t length;
};

static void collect(void *user, const char *bytes, size_t length) {
    struct text *text = user;
    char *grown = realloc(text->bytes, text->length + length + 1);
    if (grown == NULL) return;
    memcpy(grown + text->length, bytes, length);
    text->bytes = grown;
    text->length += length;
    text->bytes[text->length] = 0;
}

static struct text dump(rondo_graph *graph, rondo_dump_format format) {
    struct text text = {NULL, 0};
    CHECK_OK(rondo_graph_dump(graph, format, collect, &text));
    CHECK(text.bytes != NULL && text.length > 0);
    return text;
}

struct recording {
    rondo_buffer a, b, block;
    int32_t value;
    const char *label;
};

static rondo_status play(rondo_stream *stream, void *user) {
    const struct recording *r = user;
    rondo_buffer temporary = RONDO_NO_BUFFER;
    const int32_t upload[4] = {1, 2, 3, 4};
    rondo_status status = rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &temporary);
    if (!status) status = fill_i32(stream, rondo_whole(temporary), r->value, r->label);
    if (!status) status = rondo_copy(stream, rondo_whole(r->a), rondo_whole(temporary), "copy");
    if (!status) status = rondo_write(stream, rondo_slice(r->b, 16, 16), upload, "write");
    if (!status) status = add_in_place(stream, rondo_whole(r->b), NULL, "add");
    if (!status) status = rondo_read_async(stream, rondo_whole(r->b), rondo_whole(r->block), "download");
    rondo_buffer_release(temporary);
    return status;
}

static rondo_graph *record(struct conform *t, int32_t value, const char *label) {
    struct recording r = {.a = conform_buffer(t, 64), .b = conform_buffer(t, 64), .block = conform_host_block(t, 64),
                          .value = value, .label = label};
    conform_fill_i32(t, r.b, 0);
    return capture_step(t, t->stream, play, &r);
}

/* [O8] Equal recordings give equal text, whatever buffers and ids they have. */
static void equal_recordings_give_equal_text(struct conform *t) {
    struct text one = dump(record(t, 5, "fill"), RONDO_DUMP_TEXT);
    conform_buffer(t, 1 << 16);
    struct text two = dump(record(t, 5, "fill"), RONDO_DUMP_TEXT);
    assert_string_equal(one.bytes, two.bytes);
    static const char *const words[] = {"fill", "copy", "write", "add", "download"};
    for (size_t i = 0; i < COUNT_OF(words); i++) CHECK(strstr(one.bytes, words[i]) != NULL);
    free(one.bytes);
    free(two.bytes);
}

/* [O8] */
static void the_text_of_a_graph_does_not_change_by_replaying_it(struct conform *t) {
    rondo_graph *graph = record(t, 5, "fill");
    struct text before = dump(graph, RONDO_DUMP_TEXT);
    for (int i = 0; i < 3; i++) CHECK_OK(rondo_graph_replay(graph, t->stream));
    struct text after = dump(graph, RONDO_DUMP_TEXT);
    assert_string_equal(before.bytes, after.bytes);
    free(before.bytes);
    free(after.bytes);
}

/* [O8] Other labels and other orders are other texts. */
static void different_recordings_give_different_text(struct conform *t) {
    struct text one = dump(record(t, 5, "fill"), RONDO_DUMP_TEXT);
    struct text two = dump(record(t, 5, "other"), RONDO_DUMP_TEXT);
    CHECK(strcmp(one.bytes, two.bytes) != 0);
    free(one.bytes);
    free(two.bytes);
}

/* [O8] The text of a launch names kernel and parameters, and two equal launches read the same. */
static void the_text_of_a_launch_names_its_kernel_and_parameters(struct conform *t) {
    struct text texts[2];
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 64);
        open_window(t->stream);
        CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(x), 3, 16, "numbers"));
        CHECK_OK(conform_launch_copy(t, t->stream, rondo_whole(y), rondo_whole(x), 16, NULL));
        texts[i] = dump(seal(t, t->stream), RONDO_DUMP_TEXT);
    }
    assert_string_equal(texts[0].bytes, texts[1].bytes);
    static const char *const words[] = {"iota_i32", "copy_i32", "numbers", "start"};
    for (size_t i = 0; i < COUNT_OF(words); i++) CHECK(strstr(texts[0].bytes, words[i]) != NULL);
    free(texts[0].bytes);
    free(texts[1].bytes);
}

/* Whether braces and quotes are balanced, with quotes and escapes as Graphviz reads them. */
static bool balanced(const char *text) {
    int depth = 0;
    bool quoted = false;
    for (const char *c = text; *c != 0; c++) {
        if (quoted && *c == '\\' && c[1] != 0) c++;
        else if (*c == '"') quoted = !quoted;
        else if (!quoted && *c == '{') depth++;
        else if (!quoted && *c == '}' && --depth < 0) return false;
    }
    return depth == 0 && !quoted;
}

/* Graphviz's own opinion, where Graphviz is at hand. */
static void check_with_graphviz(const char *text) {
    if (system("command -v dot > /dev/null 2>&1") != 0) return;
    FILE *dot = popen("dot -Tcanon > /dev/null 2>&1", "w");
    CHECK(dot != NULL);
    CHECK(fputs(text, dot) >= 0);
    CHECK_EQUAL(pclose(dot), 0);
}

static void check_dot(rondo_graph *graph) {
    struct text dot = dump(graph, RONDO_DUMP_DOT);
    CHECK(strncmp(dot.bytes, "digraph", 7) == 0);
    CHECK(balanced(dot.bytes));
    check_with_graphviz(dot.bytes);
    free(dot.bytes);
}

/* [O8] */
static void the_dot_form_is_well_formed_and_has_the_edges(struct conform *t) {
    rondo_graph *graph = record(t, 5, "fill");
    struct text dot = dump(graph, RONDO_DUMP_DOT);
    CHECK(strstr(dot.bytes, "->") != NULL);
    free(dot.bytes);
    check_dot(graph);
    rondo_buffer one = conform_buffer(t, 64), two = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(one), 1, NULL));
    CHECK_OK(fill_i32(t->stream, rondo_whole(two), 1, NULL));
    dot = dump(seal(t, t->stream), RONDO_DUMP_DOT);
    CHECK(strstr(dot.bytes, "->") == NULL);
    free(dot.bytes);
}

/* [O8, E2] A label is the user's: no character of it breaks the form. */
static void no_label_breaks_the_dot_form(struct conform *t) {
    static const char *const labels[] = {"\"", "a \"quoted\" word", "{", "}", "}}\n{", "back\\slash", "\\", "a\nb",
                                         "<b>", "a|b", "; node -> node;", "\t", "[label=x]",
                                         "0123456789012345678901234567890123456789012345678901234567890\"tail"};
    for (size_t i = 0; i < COUNT_OF(labels); i++) {
        rondo_graph *graph = record(t, 5, labels[i]);
        check_dot(graph);
        rondo_graph_release(graph);
    }
}

/* [C23] */
static void an_empty_graph_can_be_dumped(struct conform *t) {
    rondo_graph *graph = NULL;
    open_window(t->stream);
    CHECK_OK(rondo_capture_end(t->stream, RONDO_END_ALLOW_EMPTY, &graph));
    conform_keep_graph(t, graph);
    check_dot(graph);
    struct text text = dump(graph, RONDO_DUMP_TEXT);
    free(text.bytes);
}

/* [E2] */
static void a_dump_with_bad_arguments_is_refused(struct conform *t) {
    rondo_graph *graph = record(t, 5, "fill");
    struct text text = {NULL, 0};
    CHECK_CODE(rondo_graph_dump(graph, RONDO_DUMP_TEXT, NULL, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_graph_dump(graph, (rondo_dump_format)77, collect, &text), RONDO_INVALID);
    CHECK_CODE(rondo_graph_dump(NULL, RONDO_DUMP_TEXT, collect, &text), RONDO_STALE);
    CHECK_EQUAL(text.length, 0);
}

struct replaying_sink {
    rondo_graph *graph;
    rondo_stream *stream;
    rondo_status failed;
    int calls;
};

static void replay_in_the_sink(void *user, const char *text, size_t length) {
    struct replaying_sink *sink = user;
    (void)text;
    (void)length;
    if (sink->calls++ < 3 && sink->failed == RONDO_OK) sink->failed = rondo_graph_replay(sink->graph, sink->stream);
}

/* [E5] The sink is the user's code and no lock is held: it may use the very graph that is being written. */
static void the_sink_of_a_dump_may_use_the_graph(struct conform *t) {
    struct replaying_sink sink = {.graph = record(t, 5, "fill"), .stream = t->stream};
    CHECK_OK(rondo_graph_dump(sink.graph, RONDO_DUMP_TEXT, replay_in_the_sink, &sink));
    CHECK(sink.calls > 0);
    CHECK_OK(sink.failed);
}

const struct conform_case conform_graph_dump_cases[] = {
    CONFORM_CASE(equal_recordings_give_equal_text, NEEDS_MAP),
    CONFORM_CASE(the_text_of_a_graph_does_not_change_by_replaying_it, NEEDS_MAP),
    CONFORM_CASE(different_recordings_give_different_text, NEEDS_MAP),
    CONFORM_CASE(the_text_of_a_launch_names_its_kernel_and_parameters, NEEDS_KERNELS),
    CONFORM_CASE(the_dot_form_is_well_formed_and_has_the_edges, NEEDS_MAP),
    CONFORM_CASE(no_label_breaks_the_dot_form, NEEDS_MAP),
    CONFORM_CASE(an_empty_graph_can_be_dumped, NEEDS_NOTHING),
    CONFORM_CASE(a_dump_with_bad_arguments_is_refused, NEEDS_MAP),
    CONFORM_CASE(the_sink_of_a_dump_may_use_the_graph, NEEDS_MAP),
    CONFORM_END,
};
