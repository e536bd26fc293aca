/* bench-vulkan: the workloads as Vulkan command buffers on lavapipe, the CPU device of Mesa: recorded once and
 * submitted again and again, and recorded each time. Kernels of a chain are kept apart by a barrier, as the API asks;
 * of `wide`, a barrier keeps link from link, all chains at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>
#include "axpy.spv.h"
#include "work.h"

enum { GROUP = 64, MOST_DEVICES = 16 };

typedef struct player {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool commands;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkFence fence;
} player;

typedef struct stage {
    player *player;
    bench_work *work;
    VkDescriptorSet sets[BENCH_MOST_CHAINS]; /* y and x of each chain */
    VkCommandBuffer commands;
} stage;

static void must(VkResult result, const char *what) {
    char text[128];
    if (result == VK_SUCCESS) return;
    snprintf(text, sizeof text, "%s gives result %d", what, (int)result);
    bench_fail(text);
}
#define MUST(call) must((call), #call)

/* ---- the device ---- */

static bool find_device(player *p) {
    VkPhysicalDevice devices[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    VkResult result = vkEnumeratePhysicalDevices(p->instance, &count, devices);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) return false;
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        p->physical = devices[i];
        if (properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) return true;
    }
    return false;
}

/* Lavapipe's only queue family does everything. */
static void open_device(player *p) {
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_0};
    const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                           .pApplicationInfo = &application};
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue};
    if (vkCreateInstance(&instance, NULL, &p->instance) != VK_SUCCESS || !find_device(p)) {
        bench_fail("Vulkan finds no CPU device; on Debian: apt-get install mesa-vulkan-drivers");
    }
    MUST(vkCreateDevice(p->physical, &device, NULL, &p->device));
    vkGetDeviceQueue(p->device, 0, 0, &p->queue);
}

static void make_layouts(player *p) {
    VkDescriptorSetLayoutBinding bindings[2];
    for (uint32_t b = 0; b < 2; b++) {
        bindings[b] = (VkDescriptorSetLayoutBinding){b, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                     VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    }
    const VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                 .bindingCount = 2, .pBindings = bindings};
    MUST(vkCreateDescriptorSetLayout(p->device, &set, NULL, &p->set_layout));
    const VkPushConstantRange value = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(float)};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1, .pSetLayouts = &p->set_layout,
                                               .pushConstantRangeCount = 1, .pPushConstantRanges = &value};
    MUST(vkCreatePipelineLayout(p->device, &layout, NULL, &p->layout));
}

static void make_pipeline(player *p) {
    const VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = sizeof axpy_spirv, .pCode = axpy_spirv};
    VkShaderModule module;
    MUST(vkCreateShaderModule(p->device, &code, NULL, &module));
    const VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module, .pName = "main"},
        .layout = p->layout};
    MUST(vkCreateComputePipelines(p->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &p->pipeline));
    vkDestroyShaderModule(p->device, module, NULL);
}

static void open_player(player *p) {
    open_device(p);
    make_layouts(p);
    make_pipeline(p);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    MUST(vkCreateCommandPool(p->device, &pool, NULL, &p->commands));
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    MUST(vkCreateFence(p->device, &fence, NULL, &p->fence));
}

/* ---- the arrays ---- */

static uint32_t host_memory_type(const player *p, uint32_t allowed) {
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties properties;
    vkGetPhysicalDeviceMemoryProperties(p->physical, &properties);
    for (uint32_t type = 0; type < properties.memoryTypeCount; type++) {
        bool fits = (properties.memoryTypes[type].propertyFlags & wanted) == wanted;
        if (fits && (allowed >> type & 1) != 0) return type;
    }
    bench_fail("Vulkan has no memory that the host can touch");
}

/* One buffer for all arrays, in memory that plain C works on as well. */
static VkBuffer make_buffer(const player *p, VkDeviceSize bytes, void **out_data) {
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = bytes,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer buffer;
    VkMemoryRequirements needs;
    VkDeviceMemory memory;
    MUST(vkCreateBuffer(p->device, &info, NULL, &buffer));
    vkGetBufferMemoryRequirements(p->device, buffer, &needs);
    const VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                             .allocationSize = needs.size,
                                             .memoryTypeIndex = host_memory_type(p, needs.memoryTypeBits)};
    MUST(vkAllocateMemory(p->device, &allocation, NULL, &memory));
    MUST(vkBindBufferMemory(p->device, buffer, memory, 0));
    MUST(vkMapMemory(p->device, memory, 0, VK_WHOLE_SIZE, 0, out_data));
    return buffer;
}

static VkDescriptorPool make_sets_pool(const player *p, uint32_t chains) {
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * chains};
    const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = chains, .poolSizeCount = 1, .pPoolSizes = &size};
    VkDescriptorPool pool;
    MUST(vkCreateDescriptorPool(p->device, &info, NULL, &pool));
    return pool;
}

static void make_set(stage *s, size_t chain, VkDescriptorPool pool, VkBuffer buffer, VkDeviceSize y, VkDeviceSize x) {
    const player *p = s->player;
    const VkDeviceSize bytes = s->work->items * sizeof(float);
    const VkDescriptorBufferInfo arrays[] = {{buffer, y, bytes}, {buffer, x, bytes}};
    const VkDescriptorSetAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                    .descriptorPool = pool, .descriptorSetCount = 1,
                                                    .pSetLayouts = &p->set_layout};
    MUST(vkAllocateDescriptorSets(p->device, &allocation, &s->sets[chain]));
    const VkWriteDescriptorSet both = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = s->sets[chain],
                                       .descriptorCount = 2, .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       .pBufferInfo = arrays};
    vkUpdateDescriptorSets(p->device, 1, &both, 0, NULL);
}

/* The workload's arrays move into Vulkan's memory, as far apart as they were. */
static void place_arrays(stage *s) {
    bench_work *work = s->work;
    const VkDeviceSize bytes = work->items * sizeof(float), stride = bytes + 256;
    void *data;
    VkBuffer buffer = make_buffer(s->player, 2 * work->chains * stride, &data);
    VkDescriptorPool pool = make_sets_pool(s->player, (uint32_t)work->chains);
    for (size_t c = 0; c < work->chains; c++) {
        VkDeviceSize x = 2 * c * stride, y = x + stride;
        memcpy((char *)data + x, work->x[c], bytes);
        work->x[c] = (float *)(void *)((char *)data + x);
        work->y[c] = (float *)(void *)((char *)data + y);
        make_set(s, c, pool, buffer, y, x);
    }
}

static stage *make_stage(player *p, const char *workload) {
    stage *s = calloc(1, sizeof *s);
    if (s == NULL) bench_fail("there is no memory");
    s->player = p;
    s->work = bench_work_make(workload);
    place_arrays(s);
    const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                  .commandPool = p->commands,
                                                  .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1};
    MUST(vkAllocateCommandBuffers(p->device, &commands, &s->commands));
    return s;
}

/* ---- the contestants ---- */

static void record(const stage *s) {
    const player *p = s->player;
    const bench_work *work = s->work;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkMemoryBarrier written = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    const float one = 1;
    MUST(vkBeginCommandBuffer(s->commands, &begin));
    vkCmdBindPipeline(s->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
    vkCmdPushConstants(s->commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof one, &one);
    for (size_t k = 0; k < work->length; k++) {
        for (size_t c = 0; c < work->chains; c++) {
            vkCmdBindDescriptorSets(s->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &s->sets[c], 0, NULL);
            vkCmdDispatch(s->commands, (uint32_t)(work->items / GROUP), 1, 1);
        }
        vkCmdPipelineBarrier(s->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             0, 1, &written, 0, NULL, 0, NULL);
    }
    MUST(vkEndCommandBuffer(s->commands));
}

static void submit(const stage *s) {
    const player *p = s->player;
    const VkSubmitInfo work = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1,
                               .pCommandBuffers = &s->commands};
    MUST(vkQueueSubmit(p->queue, 1, &work, p->fence));
    MUST(vkWaitForFences(p->device, 1, &p->fence, VK_TRUE, UINT64_MAX));
    MUST(vkResetFences(p->device, 1, &p->fence));
}

static void run_replay(void *user, uint64_t steps) {
    stage *s = user;
    for (uint64_t step = 0; step < steps; step++) submit(s);
    s->work->executed += steps;
}

static void run_eager(void *user, uint64_t steps) {
    stage *s = user;
    for (uint64_t step = 0; step < steps; step++) {
        record(s);
        submit(s);
    }
    s->work->executed += steps;
}

static void run_record(void *user, uint64_t steps) {
    for (uint64_t step = 0; step < steps; step++) record(user);
}

static void rows(player *p, const char *workload) {
    stage *s = make_stage(p, workload);
    const double nodes = (double)(s->work->chains * s->work->length);
    bench_against_plain(s->work, "Vulkan lavapipe, recorded each time", (bench_side){run_eager, s, nodes});
    bench_against_plain(s->work, "Vulkan lavapipe, command buffer", (bench_side){run_replay, s, nodes});
}

static void row_record(player *p) {
    stage *s = make_stage(p, "chain-64");
    bench_compare("record/Vulkan lavapipe, command buffer of 1,000 nodes", (bench_side){run_record, s, BENCH_CHAIN},
                  bench_plain(s->work));
}

int main(int argc, char **argv) {
    static const char *const workloads[] = {"chain-64", "chain-4096", "wide"};
    static player p;
    bool wanted = false;
    bench_parse(argc, argv);
    for (size_t w = 0; w < 3; w++) wanted |= bench_wants(workloads[w]);
    if (!wanted && !bench_wants("record/")) return 0;
    open_player(&p);
    for (size_t w = 0; w < 3; w++) {
        if (bench_wants(workloads[w])) rows(&p, workloads[w]);
    }
    if (bench_wants("record/")) row_record(&p);
    return 0;
}
