/* The kernel language: write a kernel once, run it on every backend.
 *
 * A kernel file is a header, by habit called `something.kernels.h`, that includes this header and nothing else.
 * Your C17 or C++17 program includes it like any header and gets native functions for the CPU. Other backends
 * compile the very same text as OpenCL C 1.2 (a compiler made from clang, such as PoCL's) or as CUDA or HIP.
 *
 *     #include <rondo/kernel_lang.h>
 *     #define RONDO_KERNELS saxpy_kernels
 *
 *     RONDO_KERNEL(axpy, RONDO_NO_GROUP, RONDO_IN(float, x), RONDO_INOUT(float, y), RONDO_VALUE(float, a))
 *     {
 *         RONDO_ITEMS(i) {
 *             y[i] += a * x[i];
 *         }
 *     }
 *
 *     #undef RONDO_KERNELS
 *
 * What you get. For each kernel NAME, all of it static, nothing to write twice:
 *
 *     NAME_create(device, &kernel)                        loads it on a device
 *     NAME_launch(stream, kernel, grid, args..., label)   a rondo_span per buffer, a typed value per value, in
 *                                                         the order of the parameters; a wrong count or type does
 *                                                         not compile
 *     NAME_desc, NAME_params, NAME_native                 the rondo_kernel_desc (kernel.h), its table, its function
 *     NAME_groups(grid)                                   how many groups a launch has (1 where there are no groups)
 *
 * Parameters. At least 1, at most 32. Types: (u)int8_t to (u)int64_t, float, double, or a struct of these.
 *
 *     RONDO_IN(type, name)      a buffer that is read
 *     RONDO_OUT(type, name)     a buffer that is written whole and not read. If a launch leaves some of its bytes
 *                               as they were, or reads them, the parameter is RONDO_INOUT
 *     RONDO_INOUT(type, name)   a buffer that is read and written
 *     RONDO_VALUE(type, name)   a value, the same for all items; read-only
 *
 * Arguments of one launch never overlap when one of them is written: Rondo refuses that launch, and so native
 * code may assume it. A parameter that has to overlap is written RONDO_IN_MAY_ALIAS, RONDO_OUT_MAY_ALIAS or
 * RONDO_INOUT_MAY_ALIAS; from then on no parameter of that kernel is assumed to be apart from the others.
 *
 * Items. A grid is given in items, not in groups. RONDO_ITEMS(x), RONDO_ITEMS_2D(x, y) and RONDO_ITEMS_3D(x, y,
 * z) are loops over the items; they stop at the edge of the grid by themselves, so a kernel needs no test of
 * bounds. The names become uint64_t variables, x being the dimension whose neighbours follow one another.
 * `continue` and `break` both leave the item. RONDO_GRID_X, _Y and _Z are the sizes of the grid.
 *
 * Kernels without groups (RONDO_NO_GROUP): all items are independent; an item reads nothing that another item
 * of the same launch writes. This is the fastest kind, and the CPU may cut such a launch anywhere.
 *
 * Kernels with groups (RONDO_GROUP(x), RONDO_GROUP_2D(x, y), RONDO_GROUP_3D(x, y, z); at most 1024 items in
 * all): the body is the work of one group. Groups do not see each other, except by atomics. In the body
 *
 *     RONDO_LOCAL(type, name, count);   an array that the group shares; not initialised
 *     RONDO_PRIVATE(type, name);        a variable of each item that lives from one items loop to the next;
 *                                       RONDO_MY(name) in an items loop is the item's own
 *     RONDO_ITEMS...                    between two items loops is a barrier: the second sees all that the first wrote
 *     RONDO_ONCE { ... }                a block that runs once for the group, with a barrier before and after
 *     RONDO_LOCAL_X, _Y, _Z             in an items loop: the place of the item in its group
 *     RONDO_GROUP_X, _Y, _Z             the number of the group
 *
 * Declarations of RONDO_LOCAL and RONDO_PRIVATE come first. Between items loops stands code that every item of
 * a device runs alike: loops, tests and plain variables that depend only on values, the grid, the group's
 * number, and what the group has written. Such code writes no buffer and no local array; items loops and
 * RONDO_ONCE do. An items loop stands in no other items loop and in no RONDO_ONCE, and a body has no `return`.
 *
 *     RONDO_KERNEL(sum_groups, RONDO_GROUP(256), RONDO_IN(float, x), RONDO_OUT(float, partial))
 *     {
 *         RONDO_LOCAL(float, tile, 256);
 *         RONDO_ONCE {
 *             for (int t = 0; t < 256; t++) tile[t] = 0;
 *         }
 *         RONDO_ITEMS(i) {
 *             tile[RONDO_LOCAL_X] = x[i];
 *         }
 *         for (uint64_t step = 128; step > 0; step /= 2) {
 *             RONDO_ITEMS(i) {
 *                 if (RONDO_LOCAL_X < step) tile[RONDO_LOCAL_X] += tile[RONDO_LOCAL_X + step];
 *             }
 *         }
 *         RONDO_ONCE {
 *             partial[RONDO_GROUP_X] = tile[0];
 *         }
 *     }
 *
 * In the last group of a grid that 256 does not divide, the items outside of the grid run in no items loop.
 * That is why tile is cleared first. The order of the additions is written in the kernel and follows from the
 * grid alone: the number of CPU workers never changes a bit of the result.
 *
 * Atomics. RONDO_ATOMIC_ADD(pointer, value) adds to an int32_t or uint32_t in a buffer (RONDO_INOUT) or a local
 * array. It gives no old value back: that would depend on the order of the items.
 *
 * Failure. A kernel defined by RONDO_KERNEL_CAN_FAIL (same arguments as RONDO_KERNEL) may say
 * RONDO_FAIL(reason), reason being a uint32_t other than 0. The item goes on; leave it with `continue`. The
 * launch then counts as failed: what it writes cannot be read, and reads and sync report the reason.
 *
 * Helpers. RONDO_FUNCTION(type, name)(parameters) { ... } defines a function for kernels; a pointer into a
 * buffer is a `RONDO_GLOBAL float *` there. RONDO_CONSTANT(type, declarator) = ...; defines constant data, such
 * as RONDO_CONSTANT(float, taps[3]) = {0.25f, 0.5f, 0.25f}; and C's names of float mathematics (sqrtf, expf,
 * fmaxf, ...) work.
 *
 * Text. Backends that compile kernels need the text of the file at run time. The CMake function
 * rondo_add_kernels(target file.kernels.h) puts it into your program under the name that RONDO_KERNELS has in
 * that file. Without it, leave RONDO_KERNELS undefined or compile with -DRONDO_KERNELS_NO_TEXT: the kernels
 * then run on the CPU only. RONDO_KERNELS is undefined at the end of the file, so that a program can include
 * two.
 *
 * Speed. Compile files that include kernels with -O3 and for your machine (-march=native or x86-64-v3): the
 * items loop of a kernel like axpy is then a plain loop that gcc and clang turn into vector code. (-O2 is
 * enough for clang.)
 *
 * For those who write a backend. Compiled as OpenCL C, CUDA or HIP, this one file needs no other, and a kernel
 * NAME becomes a device kernel NAME (extern "C") with, in this order:
 *     a pointer to global memory per buffer and a value per value, as in the parameter table: offsets of spans
 *         are applied before (sub-buffers or pointer arithmetic);
 *     three unsigned 64-bit numbers, the grid in x, y and z, in items;
 *     a pointer to global memory, the status word: a uint32_t that is 0 before the launch and holds the reason
 *         afterwards if the kernel failed. Every kernel has it; only those whose description says can_fail use it.
 * The launch has at least one work-item per item in each dimension, rounded up to whole groups of exactly the
 * described size (any size for kernels without groups), and no global offset. The text includes
 * <rondo/kernel_lang.h>: give the compiler this file under that name (clCompileProgram and NVRTC take such
 * headers).
 *
 * Names that begin with RONDO_L_ or rondo_l_ are this file's own.
 */
#ifndef RONDO_KERNEL_LANG_H
#define RONDO_KERNEL_LANG_H

/* ---- Lists of parameters ---------------------------------------------------------------------------------------
 * A parameter is a tuple (kind, type, name). RONDO_L_EACH(M, c, ...) writes M(c, kind, type, name) for each of them. */

#define RONDO_IN(type, name) (rondo_in, type, name)
#define RONDO_OUT(type, name) (rondo_out, type, name)
#define RONDO_INOUT(type, name) (rondo_inout, type, name)
#define RONDO_IN_MAY_ALIAS(type, name) (rondo_in_alias, type, name)
#define RONDO_OUT_MAY_ALIAS(type, name) (rondo_out_alias, type, name)
#define RONDO_INOUT_MAY_ALIAS(type, name) (rondo_inout_alias, type, name)
#define RONDO_VALUE(type, name) (rondo_value, type, name)

#define RONDO_NO_GROUP (rondo_no_group, 0, 0, 0)
#define RONDO_GROUP(x) (rondo_group, x, 1, 1)
#define RONDO_GROUP_2D(x, y) (rondo_group, x, y, 1)
#define RONDO_GROUP_3D(x, y, z) (rondo_group, x, y, z)

#define RONDO_KERNEL(name, group, ...) RONDO_L_KERNEL(no, name, group, __VA_ARGS__)
#define RONDO_KERNEL_CAN_FAIL(name, group, ...) RONDO_L_KERNEL(yes, name, group, __VA_ARGS__)

#define RONDO_L_KERNEL(can_fail, name, group, ...)                                                                    \
    RONDO_L_CALL(RONDO_L_DEFINE, can_fail, RONDO_L_RESTRICT_OF(__VA_ARGS__), name, RONDO_L_UNPACK group, __VA_ARGS__)

/* A macro is not expanded again inside its own expansion, hence a second macro that joins, RONDO_L_JOIN. */
#define RONDO_L_CAT_(a, b) a##b
#define RONDO_L_CAT(a, b) RONDO_L_CAT_(a, b)
#define RONDO_L_JOIN_(a, b) a##b
#define RONDO_L_JOIN(a, b) RONDO_L_JOIN_(a, b)
#define RONDO_L_CALL(macro, ...) macro(__VA_ARGS__)
#define RONDO_L_UNPACK(...) __VA_ARGS__
#define RONDO_L_SECOND_(a, b, ...) b
#define RONDO_L_SECOND(...) RONDO_L_SECOND_(__VA_ARGS__)

/* One parameter that may alias takes the promise from all: the overlapping partner would break it otherwise. Each such
 * parameter writes a comma, which pushes RONDO_L_RESTRICT out of the second place. */
#define RONDO_L_RESTRICT_OF(...) RONDO_L_SECOND(RONDO_L_EACH(RONDO_L_COMMA, , __VA_ARGS__), RONDO_L_RESTRICT, )
#define RONDO_L_COMMA(c, kind, type, name) RONDO_L_COMMA_##kind
#define RONDO_L_COMMA_rondo_in
#define RONDO_L_COMMA_rondo_out
#define RONDO_L_COMMA_rondo_inout
#define RONDO_L_COMMA_rondo_value
#define RONDO_L_COMMA_rondo_in_alias ,
#define RONDO_L_COMMA_rondo_out_alias ,
#define RONDO_L_COMMA_rondo_inout_alias ,

#define RONDO_L_COUNT(...)                                                                                            \
    RONDO_L_COUNT_(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,       \
                   12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define RONDO_L_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,     \
                       a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, count, ...)                        \
    count

#define RONDO_L_EACH(M, c, ...) RONDO_L_CAT(RONDO_L_EACH_, RONDO_L_COUNT(__VA_ARGS__))(M, c, __VA_ARGS__)
#define RONDO_L_ONE(M, c, p) RONDO_L_ONE_(M, c, RONDO_L_UNPACK p)
#define RONDO_L_ONE_(M, ...) M(__VA_ARGS__)
#define RONDO_L_EACH_1(M, c, p) RONDO_L_ONE(M, c, p)
#define RONDO_L_EACH_2(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_1(M, c, __VA_ARGS__)
#define RONDO_L_EACH_3(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_2(M, c, __VA_ARGS__)
#define RONDO_L_EACH_4(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_3(M, c, __VA_ARGS__)
#define RONDO_L_EACH_5(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_4(M, c, __VA_ARGS__)
#define RONDO_L_EACH_6(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_5(M, c, __VA_ARGS__)
#define RONDO_L_EACH_7(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_6(M, c, __VA_ARGS__)
#define RONDO_L_EACH_8(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_7(M, c, __VA_ARGS__)
#define RONDO_L_EACH_9(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_8(M, c, __VA_ARGS__)
#define RONDO_L_EACH_10(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_9(M, c, __VA_ARGS__)
#define RONDO_L_EACH_11(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_10(M, c, __VA_ARGS__)
#define RONDO_L_EACH_12(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_11(M, c, __VA_ARGS__)
#define RONDO_L_EACH_13(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_12(M, c, __VA_ARGS__)
#define RONDO_L_EACH_14(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_13(M, c, __VA_ARGS__)
#define RONDO_L_EACH_15(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_14(M, c, __VA_ARGS__)
#define RONDO_L_EACH_16(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_15(M, c, __VA_ARGS__)
#define RONDO_L_EACH_17(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_16(M, c, __VA_ARGS__)
#define RONDO_L_EACH_18(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_17(M, c, __VA_ARGS__)
#define RONDO_L_EACH_19(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_18(M, c, __VA_ARGS__)
#define RONDO_L_EACH_20(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_19(M, c, __VA_ARGS__)
#define RONDO_L_EACH_21(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_20(M, c, __VA_ARGS__)
#define RONDO_L_EACH_22(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_21(M, c, __VA_ARGS__)
#define RONDO_L_EACH_23(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_22(M, c, __VA_ARGS__)
#define RONDO_L_EACH_24(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_23(M, c, __VA_ARGS__)
#define RONDO_L_EACH_25(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_24(M, c, __VA_ARGS__)
#define RONDO_L_EACH_26(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_25(M, c, __VA_ARGS__)
#define RONDO_L_EACH_27(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_26(M, c, __VA_ARGS__)
#define RONDO_L_EACH_28(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_27(M, c, __VA_ARGS__)
#define RONDO_L_EACH_29(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_28(M, c, __VA_ARGS__)
#define RONDO_L_EACH_30(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_29(M, c, __VA_ARGS__)
#define RONDO_L_EACH_31(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_30(M, c, __VA_ARGS__)
#define RONDO_L_EACH_32(M, c, p, ...) RONDO_L_ONE(M, c, p) RONDO_L_EACH_31(M, c, __VA_ARGS__)

/* The number of items in a group, 0 without groups, as a constant in every body: it travels in the type of a
 * parameter, because a macro inside the body cannot know the kernel's name. */
#define RONDO_L_GROUP_ITEMS (sizeof(*rondo_l_shape) / sizeof((*rondo_l_shape)[0]) - 1)

/* Zero, or a compile error in a kernel without groups. */
#define RONDO_L_ONLY_IN_GROUPS (0 * sizeof(char[RONDO_L_GROUP_ITEMS > 0 ? 1 : -1]))

#define RONDO_L_UNUSED __attribute__((unused))

/* ================================================================================================================
 * OpenCL C
 * ================================================================================================================ */
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)

typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;

#define sqrtf(x) sqrt((float)(x))
#define expf(x) exp((float)(x))
#define exp2f(x) exp2((float)(x))
#define logf(x) log((float)(x))
#define log2f(x) log2((float)(x))
#define sinf(x) sin((float)(x))
#define cosf(x) cos((float)(x))
#define tanf(x) tan((float)(x))
#define tanhf(x) tanh((float)(x))
#define fabsf(x) fabs((float)(x))
#define floorf(x) floor((float)(x))
#define ceilf(x) ceil((float)(x))
#define truncf(x) trunc((float)(x))
#define roundf(x) round((float)(x))
#define powf(x, y) pow((float)(x), (float)(y))
#define fminf(x, y) fmin((float)(x), (float)(y))
#define fmaxf(x, y) fmax((float)(x), (float)(y))
#define fmodf(x, y) fmod((float)(x), (float)(y))
#define fmaf(x, y, z) fma((float)(x), (float)(y), (float)(z))

#define RONDO_GLOBAL __global
#define RONDO_FUNCTION(type, name) static inline type name
#define RONDO_CONSTANT(type, declarator) __constant type declarator
#define RONDO_LOCAL(type, name, count) __local type name[(count) + RONDO_L_ONLY_IN_GROUPS]
#define RONDO_ATOMIC_ADD(pointer, value) ((void)atomic_add((pointer), (value)))
#define RONDO_FAIL(reason) ((void)atomic_cmpxchg(&(*rondo_l_shape)[0], 0u, (uint)(reason)))

#define RONDO_L_RESTRICT restrict
#define RONDO_L_ID(d) ((ulong)get_global_id(d))
#define RONDO_L_LOCAL_ID(d) ((ulong)get_local_id(d))
#define RONDO_L_GROUP_ID(d) ((ulong)get_group_id(d))
#define RONDO_L_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define RONDO_L_ENTRY_rondo_no_group(x, y, z) __kernel void
#define RONDO_L_ENTRY_rondo_group(x, y, z) __kernel __attribute__((reqd_work_group_size(x, y, z))) void
#define RONDO_L_DEVICE 1

/* ================================================================================================================
 * CUDA and HIP
 * ================================================================================================================ */
#elif defined(__CUDACC__) || defined(__HIPCC__)

#if defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#endif
#endif

#define RONDO_GLOBAL
#define RONDO_FUNCTION(type, name) static __device__ inline type name
#define RONDO_CONSTANT(type, declarator) static __constant__ const type declarator
#define RONDO_LOCAL(type, name, count) __shared__ type name[(count) + RONDO_L_ONLY_IN_GROUPS]
#define RONDO_ATOMIC_ADD(pointer, value) ((void)atomicAdd((pointer), (value)))
#define RONDO_FAIL(reason) ((void)atomicCAS(&(*rondo_l_shape)[0], 0u, (uint32_t)(reason)))

#define RONDO_L_RESTRICT __restrict__
#define RONDO_L_XYZ_0 x
#define RONDO_L_XYZ_1 y
#define RONDO_L_XYZ_2 z
#define RONDO_L_LOCAL_ID(d) ((uint64_t)threadIdx.RONDO_L_XYZ_##d)
#define RONDO_L_GROUP_ID(d) ((uint64_t)blockIdx.RONDO_L_XYZ_##d)
#define RONDO_L_ID(d) (RONDO_L_GROUP_ID(d) * blockDim.RONDO_L_XYZ_##d + RONDO_L_LOCAL_ID(d))
#define RONDO_L_BARRIER() __syncthreads()
#define RONDO_L_ENTRY_rondo_no_group(x, y, z) extern "C" __global__ void
#define RONDO_L_ENTRY_rondo_group(x, y, z) extern "C" __global__ void __launch_bounds__((x) * (y) * (z))
#define RONDO_L_DEVICE 1

#endif

/* ================================================================================================================
 * What the device compilers share
 * ================================================================================================================ */
#if defined(RONDO_L_DEVICE)

#define RONDO_L_DEFINE(can_fail, r, name, kind, gx, gy, gz, ...)                                                      \
    RONDO_L_ENTRY_##kind(gx, gy, gz)                                                                                  \
        name(RONDO_L_EACH(RONDO_L_SIGNATURE, r, __VA_ARGS__) uint64_t rondo_l_grid_x, uint64_t rondo_l_grid_y,        \
             uint64_t rondo_l_grid_z, RONDO_GLOBAL uint32_t(*rondo_l_shape)[(gx) * (gy) * (gz) + 1])

#define RONDO_L_SIGNATURE(r, kind, type, name) RONDO_L_SIGNATURE_##kind(r, type, name)
#define RONDO_L_SIGNATURE_rondo_in(r, type, name) RONDO_GLOBAL const type *r name,
#define RONDO_L_SIGNATURE_rondo_out(r, type, name) RONDO_GLOBAL type *r name,
#define RONDO_L_SIGNATURE_rondo_inout(r, type, name) RONDO_GLOBAL type *r name,
#define RONDO_L_SIGNATURE_rondo_in_alias(r, type, name) RONDO_GLOBAL const type *name,
#define RONDO_L_SIGNATURE_rondo_out_alias(r, type, name) RONDO_GLOBAL type *name,
#define RONDO_L_SIGNATURE_rondo_inout_alias(r, type, name) RONDO_GLOBAL type *name,
#define RONDO_L_SIGNATURE_rondo_value(r, type, name) const type name,

#define RONDO_GRID_X rondo_l_grid_x
#define RONDO_GRID_Y rondo_l_grid_y
#define RONDO_GRID_Z rondo_l_grid_z
#define RONDO_LOCAL_X RONDO_L_LOCAL_ID(0)
#define RONDO_LOCAL_Y RONDO_L_LOCAL_ID(1)
#define RONDO_LOCAL_Z RONDO_L_LOCAL_ID(2)
#define RONDO_GROUP_X (RONDO_L_GROUP_ID(0) + RONDO_L_ONLY_IN_GROUPS)
#define RONDO_GROUP_Y (RONDO_L_GROUP_ID(1) + RONDO_L_ONLY_IN_GROUPS)
#define RONDO_GROUP_Z (RONDO_L_GROUP_ID(2) + RONDO_L_ONLY_IN_GROUPS)
#define RONDO_PRIVATE(type, name) type name
#define RONDO_MY(name) name

/* A loop of one round with a barrier at both ends. All work-items of a group come here, those outside of the grid too.
 * The second barrier is for code between items loops that reads what the loop wrote. */
#define RONDO_L_SYNC() (RONDO_L_GROUP_ITEMS > 0 ? RONDO_L_BARRIER() : (void)0)
#define RONDO_L_PHASE                                                                                                 \
    for (int rondo_l_phase = (RONDO_L_SYNC(), 1); rondo_l_phase != 0; RONDO_L_SYNC(), rondo_l_phase = 0)

#define RONDO_L_ITEMS(declarators)                                                                                    \
    RONDO_L_PHASE                                                                                                     \
    for (uint64_t declarators, rondo_l_x = RONDO_L_ID(0); rondo_l_x < RONDO_GRID_X && RONDO_L_ID(1) < RONDO_GRID_Y && \
                                                          RONDO_L_ID(2) < RONDO_GRID_Z;                               \
         rondo_l_x = RONDO_GRID_X)
#define RONDO_ITEMS(x) RONDO_L_ITEMS(x RONDO_L_UNUSED = RONDO_L_ID(0))
#define RONDO_ITEMS_2D(x, y)                                                                                          \
    RONDO_L_ITEMS(RONDO_L_UNPACK(x RONDO_L_UNUSED = RONDO_L_ID(0), y RONDO_L_UNUSED = RONDO_L_ID(1)))
#define RONDO_ITEMS_3D(x, y, z)                                                                                       \
    RONDO_L_ITEMS(RONDO_L_UNPACK(x RONDO_L_UNUSED = RONDO_L_ID(0), y RONDO_L_UNUSED = RONDO_L_ID(1),                  \
                                 z RONDO_L_UNUSED = RONDO_L_ID(2)))

#define RONDO_ONCE                                                                                                    \
    RONDO_L_PHASE                                                                                                     \
    for (int rondo_l_once =                                                                                           \
             (RONDO_LOCAL_X + RONDO_LOCAL_Y + RONDO_LOCAL_Z + RONDO_L_ONLY_IN_GROUPS == 0) ? 1 : 0;                   \
         rondo_l_once != 0; rondo_l_once = 0)

#else

/* ================================================================================================================
 * The host: native functions, descriptions, launch functions
 * ================================================================================================================ */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rondo/kernel.h>
#include <rondo/stream.h>

#if defined(__cplusplus)
#define RONDO_L_CAST(type, value) static_cast<type>(value)
#define RONDO_L_ALIGN_OF(type) alignof(type)
#define RONDO_L_STATIC_ASSERT static_assert
#define RONDO_L_EXTERN_C extern "C"
#else
#define RONDO_L_CAST(type, value) ((type)(value))
#define RONDO_L_ALIGN_OF(type) _Alignof(type)
#define RONDO_L_STATIC_ASSERT _Static_assert
#define RONDO_L_EXTERN_C extern
#endif

#define RONDO_GLOBAL
#define RONDO_FUNCTION(type, name) static inline type name
#define RONDO_CONSTANT(type, declarator) RONDO_L_UNUSED static const type declarator

/* A box of items of the grid: one group, or a part of the items of a kernel without groups. */
typedef struct rondo_l_box {
    uint64_t begin[3], end[3]; /* items */
    uint64_t size[3];          /* of a group */
    uint64_t group[3];         /* its number */
    uint64_t grid[3];
} rondo_l_box;

#define RONDO_GRID_X (rondo_l_box_now->grid[0])
#define RONDO_GRID_Y (rondo_l_box_now->grid[1])
#define RONDO_GRID_Z (rondo_l_box_now->grid[2])
#define RONDO_GROUP_X (rondo_l_box_now->group[0] + RONDO_L_ONLY_IN_GROUPS)
#define RONDO_GROUP_Y (rondo_l_box_now->group[1] + RONDO_L_ONLY_IN_GROUPS)
#define RONDO_GROUP_Z (rondo_l_box_now->group[2] + RONDO_L_ONLY_IN_GROUPS)
#define RONDO_LOCAL_X (rondo_l_x - rondo_l_box_now->begin[0] + RONDO_L_ONLY_IN_GROUPS)
#define RONDO_LOCAL_Y (rondo_l_y - rondo_l_box_now->begin[1] + RONDO_L_ONLY_IN_GROUPS)
#define RONDO_LOCAL_Z (rondo_l_z - rondo_l_box_now->begin[2] + RONDO_L_ONLY_IN_GROUPS)

/* The unused group arithmetic makes local arrays and private variables of kernels without groups compile errors. */
#define RONDO_LOCAL(type, name, count) type name[(count) + RONDO_L_ONLY_IN_GROUPS]
#define RONDO_PRIVATE(type, name) type name[RONDO_L_GROUP_ITEMS + RONDO_L_ONLY_IN_GROUPS]
#define RONDO_MY(name)                                                                                                \
    name[RONDO_LOCAL_X + rondo_l_box_now->size[0] * (RONDO_LOCAL_Y + rondo_l_box_now->size[1] * RONDO_LOCAL_Z)]

/* The two zeros are compile errors for a type of another size and for one that is no integer. */
#define RONDO_ATOMIC_ADD(pointer, value)                                                                              \
    ((void)__atomic_fetch_add(                                                                                        \
        (pointer) + 0 * sizeof(char[sizeof(*(pointer)) == 4 ? 1 : -1]) + 0 * sizeof(~*(pointer)), (value),            \
        __ATOMIC_RELAXED))

/* The name is the message that the compiler shows if the kernel was not defined by RONDO_KERNEL_CAN_FAIL. */
#define RONDO_FAIL(reason) rondo_native_fail(rondo_fail_needs_RONDO_KERNEL_CAN_FAIL, (reason))

/* The loops run over all dimensions of the box whichever of them the kernel names, as on a device. The innermost loop
 * has one round: it gives the item its names and makes `break` leave the item only. */
#define RONDO_L_ITEMS(declarators)                                                                                    \
    for (uint64_t rondo_l_z = rondo_l_box_now->begin[2]; rondo_l_z < rondo_l_box_now->end[2]; rondo_l_z++)            \
        for (uint64_t rondo_l_y = rondo_l_box_now->begin[1]; rondo_l_y < rondo_l_box_now->end[1]; rondo_l_y++)        \
            for (uint64_t rondo_l_x = rondo_l_box_now->begin[0]; rondo_l_x < rondo_l_box_now->end[0]; rondo_l_x++)    \
                for (uint64_t declarators, rondo_l_item = rondo_l_x; rondo_l_item == rondo_l_x; rondo_l_item++)
#define RONDO_ITEMS(x) RONDO_L_ITEMS(x RONDO_L_UNUSED = rondo_l_x)
#define RONDO_ITEMS_2D(x, y) RONDO_L_ITEMS(RONDO_L_UNPACK(x RONDO_L_UNUSED = rondo_l_x, y RONDO_L_UNUSED = rondo_l_y))
#define RONDO_ITEMS_3D(x, y, z)                                                                                       \
    RONDO_L_ITEMS(RONDO_L_UNPACK(x RONDO_L_UNUSED = rondo_l_x, y RONDO_L_UNUSED = rondo_l_y,                          \
                                 z RONDO_L_UNUSED = rondo_l_z))

#define RONDO_ONCE                                                                                                    \
    for (uint64_t rondo_l_once = 1 + RONDO_L_ONLY_IN_GROUPS; rondo_l_once != 0; rondo_l_once = 0)

#define RONDO_L_RESTRICT __restrict
#define RONDO_L_INLINE static inline __attribute__((always_inline))

/* How many groups of `size` items cover `items`. */
static inline uint64_t rondo_l_group_count(uint64_t items, uint64_t size) {
    return items / size + (items % size != 0 ? 1 : 0);
}

/* The box that begins at item `at` (row-major over the grid) and is as large as the items up to `last` allow: the
 * rest of a row, or whole rows, or whole planes. Returns the item after the box. */
static inline uint64_t rondo_l_cut_box(rondo_l_box *box, uint64_t at, uint64_t last) {
    const uint64_t width = box->grid[0], height = box->grid[1], left = last - at;
    const uint64_t x = at % width, y = at / width % height, z = at / width / height;
    uint64_t count[3] = {width, 1, 1};
    if (x != 0 || left < width) {
        count[0] = left < width - x ? left : width - x;
    } else if (y != 0 || left / width < height) {
        count[1] = left / width < height - y ? left / width : height - y;
    } else {
        count[1] = height;
        count[2] = left / width / height;
    }
    box->begin[0] = x;
    box->begin[1] = y;
    box->begin[2] = z;
    for (int d = 0; d < 3; d++) box->end[d] = box->begin[d] + count[d];
    return at + count[0] * count[1] * count[2];
}

/* The box of the items of the current group. */
RONDO_L_INLINE void rondo_l_box_of_group(rondo_l_box *box) {
    for (int d = 0; d < 3; d++) {
        const uint64_t begin = box->group[d] * box->size[d], left = box->grid[d] - begin;
        box->begin[d] = begin;
        box->end[d] = begin + (left < box->size[d] ? left : box->size[d]);
    }
}

/* Makes group number `index` the current one; `counts` is how many there are per dimension. */
RONDO_L_INLINE void rondo_l_first_group(rondo_l_box *box, const uint64_t counts[3], uint64_t index) {
    box->group[0] = index % counts[0];
    box->group[1] = index / counts[0] % counts[1];
    box->group[2] = index / counts[0] / counts[1];
}

RONDO_L_INLINE void rondo_l_next_group(rondo_l_box *box, const uint64_t counts[3]) {
    if (++box->group[0] < counts[0]) return;
    box->group[0] = 0;
    if (++box->group[1] < counts[1]) return;
    box->group[1] = 0;
    box->group[2]++;
}

/* The native function: takes the arguments out of the call once, then runs the body box by box. */
#define RONDO_L_TAKE_ARGS(gx, gy, gz, ...)                                                                            \
    enum { RONDO_L_EACH(RONDO_L_NUMBER, , __VA_ARGS__) rondo_l_number_of_args };                                      \
    RONDO_L_EACH(RONDO_L_LOAD, , __VA_ARGS__)                                                                         \
    rondo_l_box rondo_l_now = {{0, 0, 0}, {0, 1, 1}, {gx, gy, gz}, {0, 0, 0},                                         \
                               {rondo_l_call->grid[0], rondo_l_call->grid[1], rondo_l_call->grid[2]}};
#define RONDO_L_RUN_BODY(name, ...)                                                                                   \
    name##_group(&rondo_l_now, rondo_l_call, NULL RONDO_L_EACH(RONDO_L_PASS, , __VA_ARGS__));

/* A grid of one row is the common case of kernels without groups. Theirs is one loop from the first item to the last,
 * and the cutting of other grids into boxes stays in a function of its own, so that it costs the loop nothing. */
#define RONDO_L_NATIVE_rondo_no_group(name, gx, gy, gz, ...)                                                          \
    static __attribute__((noinline, unused)) void name##_boxes(const rondo_native_call *rondo_l_call) {               \
        RONDO_L_TAKE_ARGS(gx, gy, gz, __VA_ARGS__)                                                                    \
        for (uint64_t rondo_l_at = rondo_l_call->first; rondo_l_at < rondo_l_call->last;) {                           \
            rondo_l_at = rondo_l_cut_box(&rondo_l_now, rondo_l_at, rondo_l_call->last);                               \
            RONDO_L_RUN_BODY(name, __VA_ARGS__)                                                                       \
        }                                                                                                             \
    }                                                                                                                 \
    RONDO_L_UNUSED static inline void name##_native(const rondo_native_call *rondo_l_call) {                          \
        if (rondo_l_call->grid[1] != 1 || rondo_l_call->grid[2] != 1) {                                               \
            name##_boxes(rondo_l_call);                                                                               \
            return;                                                                                                   \
        }                                                                                                             \
        RONDO_L_TAKE_ARGS(gx, gy, gz, __VA_ARGS__)                                                                    \
        rondo_l_now.begin[0] = rondo_l_call->first;                                                                   \
        rondo_l_now.end[0] = rondo_l_call->last;                                                                      \
        RONDO_L_RUN_BODY(name, __VA_ARGS__)                                                                           \
    }

#define RONDO_L_NATIVE_rondo_group(name, gx, gy, gz, ...)                                                             \
    RONDO_L_UNUSED static inline void name##_native(const rondo_native_call *rondo_l_call) {                          \
        RONDO_L_TAKE_ARGS(gx, gy, gz, __VA_ARGS__)                                                                    \
        const uint64_t rondo_l_counts[3] = {rondo_l_group_count(rondo_l_now.grid[0], gx),                             \
                                            rondo_l_group_count(rondo_l_now.grid[1], gy),                             \
                                            rondo_l_group_count(rondo_l_now.grid[2], gz)};                            \
        rondo_l_first_group(&rondo_l_now, rondo_l_counts, rondo_l_call->first);                                       \
        for (uint64_t rondo_l_at = rondo_l_call->first; rondo_l_at < rondo_l_call->last; rondo_l_at++) {              \
            rondo_l_box_of_group(&rondo_l_now);                                                                       \
            RONDO_L_RUN_BODY(name, __VA_ARGS__)                                                                       \
            rondo_l_next_group(&rondo_l_now, rondo_l_counts);                                                         \
        }                                                                                                             \
    }

/* What one definition becomes. The last line is the head of the function whose body the user writes. */
#define RONDO_L_DEFINE(can_fail, r, name, kind, gx, gy, gz, ...)                                                      \
    RONDO_L_STATIC_ASSERT((gx) * (gy) * (gz) <= 1024, #name ": a group has at most 1024 items");                      \
    RONDO_L_STATIC_ASSERT(RONDO_L_GROUP_OK_##kind(gx, gy, gz), #name ": a group has at least 1 item per dimension");  \
    RONDO_L_INLINE void name##_group(const rondo_l_box *rondo_l_box_now,                                              \
                                     const rondo_native_call *RONDO_L_CALL_NAME_##can_fail,                           \
                                     const char (*rondo_l_shape)[(gx) * (gy) * (gz) + 1] RONDO_L_EACH(                \
                                         RONDO_L_SIGNATURE, r, __VA_ARGS__));                                         \
    RONDO_L_NATIVE_##kind(name, gx, gy, gz, __VA_ARGS__)                                                              \
    RONDO_L_DECLARE_TEXT                                                                                              \
    RONDO_L_UNUSED static const rondo_param name##_params[] = {RONDO_L_EACH(RONDO_L_TABLE, , __VA_ARGS__)};           \
    RONDO_L_UNUSED static const rondo_kernel_desc name##_desc = {                                                     \
        #name, name##_params, sizeof(name##_params) / sizeof(name##_params[0]), {gx, gy, gz}, name##_native,          \
        RONDO_L_TEXT, RONDO_L_BOOL_##can_fail, {0, 0, 0, 0, 0, 0, 0}};                                                \
    RONDO_MUST_CHECK RONDO_L_UNUSED static inline rondo_status name##_create(rondo_device *rondo_l_device,            \
                                                              rondo_kernel **rondo_l_out_kernel) {                    \
        return rondo_kernel_create(rondo_l_device, &name##_desc, rondo_l_out_kernel);                                 \
    }                                                                                                                 \
    RONDO_MUST_CHECK RONDO_L_UNUSED static inline rondo_status name##_launch(                                         \
        rondo_stream *rondo_l_stream, rondo_kernel *rondo_l_kernel,                                                   \
        rondo_grid rondo_l_grid RONDO_L_EACH(RONDO_L_LAUNCH_SIGNATURE, , __VA_ARGS__), const char *rondo_l_label) {   \
        const rondo_arg rondo_l_args[] = {RONDO_L_EACH(RONDO_L_LAUNCH_ARG, , __VA_ARGS__)};                           \
        return rondo_launch(rondo_l_stream, rondo_l_kernel, rondo_l_grid, rondo_l_args,                               \
                            sizeof(rondo_l_args) / sizeof(rondo_l_args[0]), rondo_l_label);                           \
    }                                                                                                                 \
    RONDO_L_UNUSED static inline rondo_grid name##_groups(rondo_grid rondo_l_grid) {                                  \
        return RONDO_L_GROUPS_##kind(rondo_l_grid, gx, gy, gz);                                                       \
    }                                                                                                                 \
    RONDO_L_INLINE void name##_group(                                                                                 \
        RONDO_L_UNUSED const rondo_l_box *rondo_l_box_now,                                                            \
        RONDO_L_UNUSED const rondo_native_call *RONDO_L_CALL_NAME_##can_fail,                                         \
        RONDO_L_UNUSED const char (*rondo_l_shape)[(gx) * (gy) * (gz) + 1] RONDO_L_EACH(RONDO_L_SIGNATURE, r,         \
                                                                                        __VA_ARGS__))

#define RONDO_L_BOOL_yes true
#define RONDO_L_BOOL_no false
#define RONDO_L_CALL_NAME_yes rondo_fail_needs_RONDO_KERNEL_CAN_FAIL
#define RONDO_L_CALL_NAME_no rondo_l_call_now
#define RONDO_L_GROUP_OK_rondo_no_group(x, y, z) true
#define RONDO_L_GROUP_OK_rondo_group(x, y, z) ((x) >= 1 && (y) >= 1 && (z) >= 1)
#define RONDO_L_GROUPS_rondo_no_group(grid, x, y, z) ((void)(grid), rondo_grid_3d(1, 1, 1))
#define RONDO_L_GROUPS_rondo_group(grid, gx, gy, gz)                                                                  \
    rondo_grid_3d(rondo_l_group_count((grid).x, gx), rondo_l_group_count((grid).y, gy),                               \
                  rondo_l_group_count((grid).z, gz))

/* The head of the body. */
#define RONDO_L_SIGNATURE(r, kind, type, name) RONDO_L_SIGNATURE_##kind(r, type, name)
#define RONDO_L_SIGNATURE_rondo_in(r, type, name) , const type *r name
#define RONDO_L_SIGNATURE_rondo_out(r, type, name) , type *r name
#define RONDO_L_SIGNATURE_rondo_inout(r, type, name) , type *r name
#define RONDO_L_SIGNATURE_rondo_in_alias(r, type, name) , const type *name
#define RONDO_L_SIGNATURE_rondo_out_alias(r, type, name) , type *name
#define RONDO_L_SIGNATURE_rondo_inout_alias(r, type, name) , type *name
#define RONDO_L_SIGNATURE_rondo_value(r, type, name) , const type name

/* The arguments, taken from the call once. Values are copied bytewise: nothing says that they are aligned. */
#define RONDO_L_NUMBER(c, kind, type, name) rondo_l_arg_##name,
#define RONDO_L_PASS(c, kind, type, name) , rondo_l_param_##name
#define RONDO_L_LOAD(c, kind, type, name) RONDO_L_LOAD_##kind(type, name)
#define RONDO_L_LOAD_rondo_in(type, name)                                                                             \
    const type *rondo_l_param_##name = RONDO_L_CAST(const type *, rondo_l_call->args[rondo_l_arg_##name]);
#define RONDO_L_LOAD_rondo_out(type, name)                                                                            \
    type *rondo_l_param_##name = RONDO_L_CAST(type *, rondo_l_call->args[rondo_l_arg_##name]);
#define RONDO_L_LOAD_rondo_inout RONDO_L_LOAD_rondo_out
#define RONDO_L_LOAD_rondo_in_alias RONDO_L_LOAD_rondo_in
#define RONDO_L_LOAD_rondo_out_alias RONDO_L_LOAD_rondo_out
#define RONDO_L_LOAD_rondo_inout_alias RONDO_L_LOAD_rondo_out
#define RONDO_L_LOAD_rondo_value(type, name)                                                                          \
    type rondo_l_param_##name;                                                                                        \
    memcpy(&rondo_l_param_##name, rondo_l_call->args[rondo_l_arg_##name], sizeof(type));

/* The table of parameters. */
#define RONDO_L_TABLE(c, kind, type, name)                                                                            \
    {#name, RONDO_L_KIND_##kind, RONDO_L_CAST(uint32_t, sizeof(type)),                                                \
     RONDO_L_CAST(uint32_t, RONDO_L_ALIGN_OF(type)), RONDO_L_ALIAS_##kind},
#define RONDO_L_KIND_rondo_in RONDO_PARAM_IN
#define RONDO_L_KIND_rondo_out RONDO_PARAM_OUT
#define RONDO_L_KIND_rondo_inout RONDO_PARAM_INOUT
#define RONDO_L_KIND_rondo_in_alias RONDO_PARAM_IN
#define RONDO_L_KIND_rondo_out_alias RONDO_PARAM_OUT
#define RONDO_L_KIND_rondo_inout_alias RONDO_PARAM_INOUT
#define RONDO_L_KIND_rondo_value RONDO_PARAM_VALUE
#define RONDO_L_ALIAS_rondo_in false
#define RONDO_L_ALIAS_rondo_out false
#define RONDO_L_ALIAS_rondo_inout false
#define RONDO_L_ALIAS_rondo_value false
#define RONDO_L_ALIAS_rondo_in_alias true
#define RONDO_L_ALIAS_rondo_out_alias true
#define RONDO_L_ALIAS_rondo_inout_alias true

/* The launch function. */
#define RONDO_L_LAUNCH_SIGNATURE(c, kind, type, name) RONDO_L_LAUNCH_SIGNATURE_##kind(type, name)
#define RONDO_L_LAUNCH_SIGNATURE_rondo_in(type, name) , rondo_span name
#define RONDO_L_LAUNCH_SIGNATURE_rondo_out(type, name) , rondo_span name
#define RONDO_L_LAUNCH_SIGNATURE_rondo_inout(type, name) , rondo_span name
#define RONDO_L_LAUNCH_SIGNATURE_rondo_in_alias(type, name) , rondo_span name
#define RONDO_L_LAUNCH_SIGNATURE_rondo_out_alias(type, name) , rondo_span name
#define RONDO_L_LAUNCH_SIGNATURE_rondo_inout_alias(type, name) , rondo_span name
#define RONDO_L_LAUNCH_SIGNATURE_rondo_value(type, name) , type name
#define RONDO_L_LAUNCH_ARG(c, kind, type, name) RONDO_L_LAUNCH_ARG_##kind(name)
#define RONDO_L_LAUNCH_ARG_rondo_in(name) rondo_arg_span(name),
#define RONDO_L_LAUNCH_ARG_rondo_out(name) rondo_arg_span(name),
#define RONDO_L_LAUNCH_ARG_rondo_inout(name) rondo_arg_span(name),
#define RONDO_L_LAUNCH_ARG_rondo_in_alias(name) rondo_arg_span(name),
#define RONDO_L_LAUNCH_ARG_rondo_out_alias(name) rondo_arg_span(name),
#define RONDO_L_LAUNCH_ARG_rondo_inout_alias(name) rondo_arg_span(name),
#define RONDO_L_LAUNCH_ARG_rondo_value(name) rondo_arg_value(&name, sizeof(name)),

/* The text: a symbol NAME_text if RONDO_KERNELS is defined as NAME, otherwise NULL. An undefined RONDO_KERNELS
 * stays as it is, and so RONDO_L_NAMED_RONDO_KERNELS puts a second item into the list that RONDO_L_SECOND looks at. */
#if defined(RONDO_KERNELS_NO_TEXT)
#define RONDO_L_TEXT NULL
#define RONDO_L_DECLARE_TEXT
#else
#define RONDO_L_NAMED_RONDO_KERNELS ~, NO
#define RONDO_L_NAMED RONDO_L_SECOND(RONDO_L_CAT(RONDO_L_NAMED_, RONDO_KERNELS), YES, )
#define RONDO_L_TEXT_YES RONDO_L_JOIN(RONDO_KERNELS, _text)
#define RONDO_L_TEXT_NO NULL
#define RONDO_L_TEXT RONDO_L_CAT(RONDO_L_TEXT_, RONDO_L_NAMED)
#define RONDO_L_DECLARE_TEXT_YES RONDO_L_EXTERN_C const char RONDO_L_JOIN(RONDO_KERNELS, _text)[];
#define RONDO_L_DECLARE_TEXT_NO
#define RONDO_L_DECLARE_TEXT RONDO_L_CAT(RONDO_L_DECLARE_TEXT_, RONDO_L_NAMED)
#endif

#endif
#endif
