/* The cache of compiled programs: what is not exactly what was stored is taken for absent and made anew. */
#include "unit.h"

#include <rondo/rondo.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/opencl/opencl.h"
#include "backend/opencl/parts.h"
#include "base/alloc.h"
#include "opencl_stub.h"

static const struct rdo_ocl_key key = {0x1122334455667788, 0x99aabbccddeeff00};
static const char binary[] = "a binary, as a driver might give it";

static char base[64];
static char folder[256];

static int make_folder(void **state) {
    (void)state;
    snprintf(base, sizeof base, "/tmp/rondo-opencl-cache-XXXXXX");
    if (mkdtemp(base) == NULL || setenv("XDG_CACHE_HOME", base, 1) != 0) return 1;
    return rdo_ocl_cache_folder(folder, sizeof folder) ? 0 : 1;
}

static int drop_folder(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", base);
    return system(command);
}

/* The only file in the cache. */
static void find_file(char *room, size_t size_bytes) {
    DIR *listing = opendir(folder);
    int count = 0;
    assert_non_null(listing);
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing)) {
        if (entry->d_name[0] == '.') continue;
        assert_true(snprintf(room, size_bytes, "%s/%s", folder, entry->d_name) < (int)size_bytes);
        count++;
    }
    closedir(listing);
    assert_int_equal(count, 1);
}

static bool is_kept(void) {
    size_t size_bytes = 1;
    char *data = rdo_ocl_cache_load(key, &size_bytes);
    if (data == NULL) {
        assert_int_equal(size_bytes, 0);
        return false;
    }
    assert_int_equal(size_bytes, sizeof binary);
    assert_memory_equal(data, binary, sizeof binary);
    rdo_free(data);
    return true;
}

static void what_was_stored_is_found_again(void **state) {
    char file[512];
    struct stat facts;
    (void)state;
    assert_false(is_kept());
    rdo_ocl_cache_store(key, binary, sizeof binary);
    assert_true(is_kept());
    rdo_ocl_cache_store(key, binary, sizeof binary);
    assert_true(is_kept());
    find_file(file, sizeof file);
    assert_int_equal(stat(file, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    struct rdo_ocl_key other = {key.low + 1, key.high};
    size_t size_bytes;
    assert_null(rdo_ocl_cache_load(other, &size_bytes));
}

static void change_byte(const char *file, long at) {
    FILE *stream = fopen(file, "r+b");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, at, SEEK_SET), 0);
    int byte = fgetc(stream);
    assert_int_equal(fseek(stream, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1, stream), byte ^ 1);
    assert_int_equal(fclose(stream), 0);
}

static void a_file_with_any_changed_byte_is_as_good_as_none(void **state) {
    char file[512];
    struct stat facts;
    (void)state;
    rdo_ocl_cache_store(key, binary, sizeof binary);
    find_file(file, sizeof file);
    assert_int_equal(stat(file, &facts), 0);
    for (long at = 0; at < facts.st_size; at++) {
        change_byte(file, at);
        assert_false(is_kept());
        change_byte(file, at);
        assert_true(is_kept());
    }
}

static void a_file_of_any_other_length_is_as_good_as_none(void **state) {
    char file[512];
    struct stat facts;
    (void)state;
    rdo_ocl_cache_store(key, binary, sizeof binary);
    find_file(file, sizeof file);
    assert_int_equal(stat(file, &facts), 0);
    assert_int_equal(truncate(file, facts.st_size + 1), 0);
    assert_false(is_kept());
    for (long size = facts.st_size - 1; size >= 0; size--) {
        assert_int_equal(truncate(file, size), 0);
        assert_false(is_kept());
    }
    rdo_ocl_cache_store(key, binary, sizeof binary);
    assert_true(is_kept());
}

static void a_file_of_another_key_under_this_name_is_as_good_as_none(void **state) {
    char file[512], mine[512];
    const struct rdo_ocl_key other = {key.low ^ 5, key.high};
    (void)state;
    rdo_ocl_cache_store(key, binary, sizeof binary);
    find_file(mine, sizeof mine);
    assert_int_equal(unlink(mine), 0);
    rdo_ocl_cache_store(other, binary, sizeof binary);
    find_file(file, sizeof file);
    assert_int_equal(rename(file, mine), 0);
    assert_false(is_kept());
}

static void something_that_is_no_file_is_as_good_as_none(void **state) {
    char file[512];
    (void)state;
    rdo_ocl_cache_store(key, binary, sizeof binary);
    find_file(file, sizeof file);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkdir(file, 0700), 0);
    assert_false(is_kept());
    rdo_ocl_cache_store(key, binary, sizeof binary); /* cannot take its place, and leaves nothing else behind */
    find_file(file, sizeof file);
    assert_false(is_kept());
}

static void without_a_place_for_it_there_is_no_cache(void **state) {
    char where[64];
    (void)state;
    (void)unsetenv("HOME");
    (void)setenv("XDG_CACHE_HOME", "relative/paths/do/not/count", 1);
    assert_false(rdo_ocl_cache_folder(where, sizeof where));
    rdo_ocl_cache_store(key, binary, sizeof binary);
    assert_false(is_kept());
    (void)setenv("HOME", "/home/somebody", 1);
    assert_true(rdo_ocl_cache_folder(where, sizeof where));
    assert_string_equal(where, "/home/somebody/.cache/rondo/opencl");
    (void)setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
    rdo_ocl_cache_store(key, binary, sizeof binary);
    assert_false(is_kept());
    (void)setenv("XDG_CACHE_HOME", base, 1);
}

/* ---- in use ---- */

static const rondo_param params[] = {
    {"x", RONDO_PARAM_IN, 4, 4, false}, {"y", RONDO_PARAM_OUT, 4, 4, false}, {"k", RONDO_PARAM_VALUE, 4, 4, false}};

/* Loads the kernel on a fresh device. Returns whether it came from the cache. */
static bool load_from_cache(const char *source, bool refuses) {
    const rondo_kernel_desc desc = {.name = STUB_ADD, .params = params, .param_count = 3, .source = source};
    void *device = NULL, *kernel = NULL;
    rondo_backend_outcome outcome;
    opencl_stub_install(STUB_FINE);
    opencl_stub.refuses_binaries = refuses;
    assert_int_equal(rdo_backend_opencl.open(0, NULL, &device, &outcome), RONDO_BACKEND_DONE);
    assert_int_equal(rdo_backend_opencl.kernel_load(device, &desc, &kernel, &outcome), RONDO_BACKEND_DONE);
    rdo_backend_opencl.kernel_unload(device, kernel);
    rdo_backend_opencl.close(device);
    assert_int_equal(opencl_stub_live(), 0);
    return opencl_stub.from_binary != 0;
}

static void a_program_is_compiled_once_for_each_text_and_driver(void **state) {
    static const char text[] = "#include <rondo/kernel_lang.h>\n" STUB_ADD " 1\n";
    static const char other[] = "#include <rondo/kernel_lang.h>\n" STUB_ADD " 2\n";
    (void)state;
    assert_false(load_from_cache(text, false));
    assert_true(load_from_cache(text, false));
    assert_false(load_from_cache(other, false));
    assert_true(load_from_cache(other, false));
}

static void a_binary_that_the_driver_refuses_is_made_anew(void **state) {
    static const char text[] = "#include <rondo/kernel_lang.h>\n" STUB_ADD " 3\n";
    (void)state;
    assert_false(load_from_cache(text, false));
    assert_false(load_from_cache(text, true));
    assert_true(load_from_cache(text, false));
}

static void a_spoiled_file_is_made_anew(void **state) {
    static const char text[] = "#include <rondo/kernel_lang.h>\n" STUB_ADD " 4\n";
    char file[512];
    (void)state;
    assert_false(load_from_cache(text, false));
    find_file(file, sizeof file);
    change_byte(file, 60);
    assert_false(load_from_cache(text, false));
    assert_true(load_from_cache(text, false));
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(what_was_stored_is_found_again),
        IN_A_FOLDER(a_file_with_any_changed_byte_is_as_good_as_none),
        IN_A_FOLDER(a_file_of_any_other_length_is_as_good_as_none),
        IN_A_FOLDER(a_file_of_another_key_under_this_name_is_as_good_as_none),
        IN_A_FOLDER(something_that_is_no_file_is_as_good_as_none),
        IN_A_FOLDER(without_a_place_for_it_there_is_no_cache),
        IN_A_FOLDER(a_program_is_compiled_once_for_each_text_and_driver),
        IN_A_FOLDER(a_binary_that_the_driver_refuses_is_made_anew),
        IN_A_FOLDER(a_spoiled_file_is_made_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
