/* What the files of the OpenCL backend share. Nothing outside this folder includes it, but its tests. */
#ifndef RDO_BACKEND_OPENCL_PARTS_H
#define RDO_BACKEND_OPENCL_PARTS_H

#include <pthread.h>
#include <rondo/backend.h>
#include "abi.h"

/* ---- the library (load.c) ---- */

#define RDO_OCL_LIBRARY "libOpenCL.so.1"

/* How the OpenCL library is reached. Tests put a stand-in here, while no device is open. */
struct rdo_ocl_hooks {
    void *(*open_library)(const char *name);               /* NULL: it is not there */
    void *(*find_symbol)(void *library, const char *name); /* NULL: it has no such call */
    uint64_t svm_mask; /* of what a device offers in shared virtual memory, what the backend may use */
    uint64_t (*clock_ns)(void);                            /* by which ways of replaying are measured */
};
extern struct rdo_ocl_hooks rdo_ocl_hooks;

/* The calls, filled by rdo_ocl_load. */
struct rdo_ocl_calls {
/* A declaration takes no parentheses. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define OCL_CALL(result, name, parameters) result(*name) parameters;
#include "symbols.def"
#undef OCL_CALL
};
extern struct rdo_ocl_calls rdo_ocl;

/* The calls of extensions, which each platform has for itself. */
struct rdo_ocl_extension {
/* As above. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define OCL_EXTENSION(result, name, parameters) result(*name) parameters;
#include "extensions.def"
#undef OCL_EXTENSION
};

/* Fills what the platform has; false if it lacks a call of cl_khr_command_buffer. */
bool rdo_ocl_load_extension(ocl_platform platform, struct rdo_ocl_extension *out_calls);

/* Loads the library once. False if it cannot be used; then `reason` says why, and the next call tries again. */
bool rdo_ocl_load(char *reason, size_t size_bytes);
/* Tests only: forgets the library, so that the hooks are asked anew. */
void rdo_ocl_forget(void);
const char *rdo_ocl_error_name(int32_t error); /* "CL_OUT_OF_RESOURCES", or "an error without a name" */

/* ---- devices (device.c) ---- */

/* How the memory of a device is reached. Shared virtual memory gives plain addresses, so that spans may begin at any
 * byte; buffers need sub-buffers, which begin at multiples of the device's alignment. */
enum rdo_ocl_memory { RDO_OCL_BUFFERS, RDO_OCL_COARSE, RDO_OCL_FINE };

/* How the launches of a graph are replayed, and why so. */
enum rdo_ocl_way {
    RDO_OCL_NOT_CHOSEN,     /* no graph has been built yet */
    RDO_OCL_NOT_TESTED,     /* the same, and the environment asks for command buffers */
    RDO_OCL_RECORDED,       /* by command buffers, which were faster */
    RDO_OCL_RECORDED_ASKED, /* by command buffers, as the environment asks */
    RDO_OCL_ENQUEUED,       /* one by one, which was faster or as fast */
    RDO_OCL_ENQUEUED_ASKED, /* one by one, as the environment asks */
    RDO_OCL_NO_BUFFERS,     /* one by one, since the driver has no command buffers */
    RDO_OCL_BAD_BUFFERS     /* one by one, since the driver's do not do what they should */
};

struct rdo_ocl_device {
    ocl_platform platform;
    ocl_device id;
    ocl_context context;
    enum rdo_ocl_memory memory;
    bool imports; /* the device reaches all memory of the process */
    bool is_cpu;
    bool has_recording, has_changes; /* cl_khr_command_buffer; and cl_khr_command_buffer_mutable_dispatch */
    struct rdo_ocl_extension extension;
    ocl_queue aside; /* for what belongs to no stream: recording, and mapping host pages */
    pthread_mutex_t way_lock;
    enum rdo_ocl_way way; /* under way_lock */
    uint32_t compute_units, max_queues;
    uint64_t memory_bytes, largest_bytes, alignment_bytes;
    size_t max_local;
    void *spare; /* a page that stands for the status word of kernels that never fail, and for empty spans */
    char name[128], driver[64], platform_name[64], platform_version[64], version[64];
    pthread_mutex_t lock; /* of the programs */
    struct rdo_ocl_program *programs;
};

enum { RDO_OCL_BOUNCE_BYTES = 65536 }; /* a multiple of every pattern */

struct rdo_ocl_queue {
    struct rdo_ocl_device *device;
    ocl_queue queue;
    void *status;   /* a page of one word, 0 but for the moment between a failure and its being read */
    uint8_t *bounce; /* RDO_OCL_BOUNCE_BYTES of host memory */
};

/* ---- failures (device.c) ---- */

rondo_backend_result rdo_ocl_refuse(rondo_backend_outcome *outcome, rondo_backend_result result, const char *format,
                                    ...) __attribute__((format(printf, 3, 4)));
/* What a call means that failed before anything ran. */
static inline rondo_backend_result rdo_ocl_result(int32_t error) {
    return error == OCL_OUT_OF_HOST_MEMORY ? RONDO_BACKEND_NO_MEMORY : RONDO_BACKEND_NOT_RUN;
}
/* Such a call, with its words. */
rondo_backend_result rdo_ocl_failed(rondo_backend_outcome *outcome, const char *call, int32_t error);

/* ---- memory (memory.c) ---- */

enum { RDO_OCL_SPARE_BYTES = 4096 };

/* A device page is an address in shared virtual memory, or where the device has none, one of these. */
struct rdo_ocl_page {
    ocl_mem mem;
    uint64_t size_bytes;
};

/* By number: an empty span may have no page, and nothing may be added to a null pointer. */
static inline void *rdo_ocl_address(rondo_place place) {
    return (void *)((uintptr_t)place.page + (uintptr_t)place.offset_bytes);
}

rondo_backend_result rdo_ocl_page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page);
void rdo_ocl_page_free(void *device, rondo_page_kind kind, void *page, uint64_t size_bytes);
rondo_backend_result rdo_ocl_page_import(void *device, void *data, uint64_t size_bytes, void **out_page);
void rdo_ocl_page_unimport(void *device, void *page, uint64_t size_bytes);
void *rdo_ocl_host_address(void *device, void *page);
/* Gives a kernel a place as its argument. *out_made is a sub-buffer that the caller releases after the work, or
 * NULL. */
rondo_backend_result rdo_ocl_set_place(const struct rdo_ocl_device *device, ocl_kernel kernel, uint32_t index,
                                       rondo_place place, ocl_mem *out_made, rondo_backend_outcome *outcome);

/* ---- transfers, fills and copies (bytes.c) ---- */

/* Blocking transfers between a place and the host. */
rondo_backend_result rdo_ocl_put(struct rdo_ocl_queue *queue, rondo_place target, const void *source,
                                 uint64_t size_bytes, rondo_backend_outcome *outcome);
rondo_backend_result rdo_ocl_get(struct rdo_ocl_queue *queue, void *target, rondo_place source, uint64_t size_bytes,
                                 rondo_backend_outcome *outcome);
/* Whether the operation is one command of the driver: one row, no overlap, patterns in step. */
bool rdo_ocl_is_command(const struct rdo_ocl_device *device, const rondo_backend_op *op);
rondo_backend_result rdo_ocl_enqueue_bytes(struct rdo_ocl_queue *queue, const rondo_backend_op *op,
                                           ocl_event *out_event, rondo_backend_outcome *outcome);
/* Runs any of them to its end. */
rondo_backend_result rdo_ocl_run_bytes(struct rdo_ocl_queue *queue, const rondo_backend_op *op,
                                       rondo_backend_outcome *outcome);

/* ---- kernels (kernel.c) ---- */

struct rdo_ocl_kernel {
    struct rdo_ocl_device *device;
    struct rdo_ocl_program *program;
    struct rdo_ocl_pool *pool;
    ocl_kernel object; /* for launches that are no part of a graph */
    pthread_mutex_t lock; /* of the object's arguments, from setting the first to enqueueing */
    char *name;
    uint32_t param_count;
    uint32_t value_bytes[RONDO_MAX_PARAMS]; /* 0: a buffer */
    uint32_t value_count, value_total_bytes;
    uint32_t value_param[RONDO_MAX_PARAMS]; /* which parameters are values */
    size_t group[3];                        /* 0 in x: none */
    size_t max_local;
    bool hidden; /* written in the kernel language: the grid and the status word follow the parameters */
    bool can_fail;
};

rondo_backend_result rdo_ocl_kernel_load(void *device, const rondo_kernel_desc *desc, void **out_kernel,
                                         rondo_backend_outcome *outcome);
void rdo_ocl_kernel_unload(void *device, void *kernel);
/* Another object of the same kernel, with arguments of its own; NULL and an error if there is none. */
ocl_kernel rdo_ocl_object_take(const struct rdo_ocl_kernel *kernel, int32_t *out_error);
void rdo_ocl_object_give(const struct rdo_ocl_kernel *kernel, ocl_kernel object);

/* ---- the cache of binaries (cache.c) ---- */

struct rdo_ocl_key {
    uint64_t low, high;
};

/* The folder, without a slash at its end. False if the environment names none. */
bool rdo_ocl_cache_folder(char *room, size_t size_bytes);
/* What is kept under the key, from rdo_alloc; NULL if nothing is, or nothing that is whole. */
void *rdo_ocl_cache_load(struct rdo_ocl_key key, size_t *out_size_bytes);
/* Keeps it if that can be done. */
void rdo_ocl_cache_store(struct rdo_ocl_key key, const void *data, size_t size_bytes);

/* ---- work (exec.c) ---- */

/* What clEnqueueNDRangeKernel takes. */
struct rdo_ocl_range {
    uint32_t dimensions;
    size_t global[3], local[3];
    bool any_local; /* the driver chooses */
};

rondo_backend_result rdo_ocl_plan_range(const struct rdo_ocl_kernel *kernel, rondo_grid grid,
                                        struct rdo_ocl_range *out_range, rondo_backend_outcome *outcome);
/* Sets the arguments that the kernel language adds. */
rondo_backend_result rdo_ocl_set_hidden(const struct rdo_ocl_kernel *kernel, ocl_kernel object, rondo_grid grid,
                                        void *status, rondo_backend_outcome *outcome);
rondo_backend_result rdo_ocl_set_value(ocl_kernel object, uint32_t index, size_t size_bytes, const void *value,
                                       rondo_backend_outcome *outcome);
rondo_backend_result rdo_ocl_enqueue_range(struct rdo_ocl_queue *queue, ocl_kernel object,
                                           const struct rdo_ocl_range *range, ocl_event *out_event,
                                           rondo_backend_outcome *outcome);
/* Waits for the event, and so for all before it, and releases it. */
rondo_backend_result rdo_ocl_wait(ocl_event event, rondo_backend_outcome *outcome);
/* FAILED if a kernel wrote the status word. Nothing runs in the queue now. */
rondo_backend_result rdo_ocl_take_status(struct rdo_ocl_queue *queue, rondo_backend_outcome *outcome);
rondo_backend_result rdo_ocl_call_host(const rondo_backend_op *op, rondo_backend_outcome *outcome);
rondo_backend_result rdo_ocl_submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome);

/* ---- graphs (graph.c, replay.c) ---- */

rondo_backend_result rdo_ocl_graph_build(void *device, const rondo_backend_nodes *nodes,
                                         const rondo_backend_edges *edges, void **out_graph);
rondo_backend_result rdo_ocl_graph_submit(void *queue, void *graph, uint64_t first, uint64_t last,
                                          rondo_backend_outcome *outcome);
void rdo_ocl_graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value);
void rdo_ocl_graph_free(void *device, void *graph);

/* ---- queues (device.c) ---- */

rondo_backend_result rdo_ocl_queue_open(void *device, uint32_t index, void **out_queue);
void rdo_ocl_queue_close(void *queue);

/* ---- the way of replaying (choose.c) ---- */

#define RDO_OCL_GRAPHS "RONDO_OPENCL_GRAPHS"

/* What the environment asks for. False if it is none of the words that it may be. */
bool rdo_ocl_read_wish(enum rdo_ocl_way *out_way);
/* Whether graphs of the device record their launches. The first call tests and measures. */
bool rdo_ocl_records(struct rdo_ocl_device *device);
/* What is in force, in words. */
void rdo_ocl_describe_way(struct rdo_ocl_device *device, char *room, size_t size_bytes);
/* Tests only: forgets what was measured. */
void rdo_ocl_forget_ways(void);

#endif
