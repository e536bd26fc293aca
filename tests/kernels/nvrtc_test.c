/* Compiles kernel files as a CUDA backend does at run time: with NVRTC, where no host header exists, and with
 * kernel_lang.h given as text. Usage: nvrtc_test kernel_lang.h file.kernels.h... */
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 17);
    if (!file || !text || fread(text, 1, (1 << 17) - 1, file) == 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) count++;
    return count;
}

static int compiles(const char *header, const char *path) {
    const char *const name = "rondo/kernel_lang.h";
    const char *const options[] = {"--gpu-architecture=compute_80", "-DRONDO_KERNELS_NO_TEXT"};
    char *text = read_text(path);
    nvrtcProgram program;
    if (nvrtcCreateProgram(&program, text, path, 1, &header, &name) != NVRTC_SUCCESS) return 0;
    const nvrtcResult result = nvrtcCompileProgram(program, 2, options);
    size_t size = 0;
    char *out = NULL;
    if (result == NVRTC_SUCCESS && nvrtcGetPTXSize(program, &size) == NVRTC_SUCCESS && (out = malloc(size)) != NULL) {
        nvrtcGetPTX(program, out);
        printf("%d device kernels in %s\n", count_of(out, ".visible .entry"), path);
    } else if (nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && (out = malloc(size)) != NULL) {
        nvrtcGetProgramLog(program, out);
        fprintf(stderr, "%s\n", out);
    }
    free(out);
    free(text);
    nvrtcDestroyProgram(&program);
    return result == NVRTC_SUCCESS;
}

int main(int argc, char **argv) {
    if (argc < 3) return 1;
    char *header = read_text(argv[1]);
    int good = 1;
    for (int i = 2; i < argc; i++) good = compiles(header, argv[i]) && good;
    free(header);
    return good ? 0 : 1;
}
