/* GPUs. Memory, bandwidth, caches, cores: XLA's target configurations (xla/backends/gpu/
 * target_config/specs/NAME.txtpb), or the vendor's data sheet where XLA has none. Rates of
 * products: the data sheets, dense: TF32 where the card has it, which XLA takes for f32 by default.
 */
#include <stddef.h>

#include "machine/device.h"

/* A launch takes 2 to 5 us (CUDA C++ Best Practices Guide); the trip of a while whose count XLA
 * knows is launches of its bookkeeping. Triton's products or cuBLAS': autotuning decides. */
const device_platform device_cuda = {"cuda", 4e3, 10e3, "xla_gpu_enable_triton_gemm=false"};
const device_platform device_rocm = {"rocm", 6e3, 15e3, "xla_gpu_enable_triton_gemm=false"};

/* XLA gives cuBLAS 4 MB for a product that is not too small (gemm_rewriter.cc). */
#define LIBRARIES(...)                                                                             \
  {                                                                                                \
    .align_bytes = 256, .library_bytes = 4 << 20, .least_library_products = 256,                   \
    .least_library_elements = 100, .lays_out_anew = true, .library_decides = true,                 \
    .fuses_sums = true, .joins_results = true, .keeps_invariants = true, .narrow_floats = true,    \
    __VA_ARGS__                                                                                    \
  }
/* What its products in parts cost, by generations (splitk_rewriter.cc). */
#define BY_AGE(generation, blackwell, hopper, older)                                               \
  ((generation) >= 10 ? (blackwell) : (generation) >= 9 ? (hopper) : (older))
#define PARTS(n, generation)                                                                       \
  .channels_last = (generation) >= 9, .cores = (n),                                                \
  .product_byte_cost = BY_AGE(generation, 0.0848863, 0.194136, 0.0666955),                         \
  .sum_cost = BY_AGE(generation, 1.21563e8, 4.36e7, 5.65307e7),                                    \
  .sum_byte_cost = BY_AGE(generation, 189.711, 193.1384, 467.815)
#define MEMORY(...) &(const device_memory)LIBRARIES(__VA_ARGS__)

/* The text that XLA takes for a card. */
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define TARGET(kind, cores, fpus, threads, shared, optin, bandwidth, l2, ghz, memory, major,       \
               minor, extension)                                                                   \
  "gpu_device_info { threads_per_block_limit: 1024 threads_per_warp: 32 "                          \
  "shared_memory_per_block: 49152 shared_memory_per_core: " TEXT(shared)                           \
  " threads_per_core_limit: " TEXT(threads) " core_count: " TEXT(cores) " fpus_per_core: "         \
  TEXT(fpus) " block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535 "   \
  "memory_bandwidth: " TEXT(bandwidth) " l2_cache_size: " TEXT(l2) " clock_rate_ghz: " TEXT(ghz)   \
  " device_memory_size: " TEXT(memory) " shared_memory_per_block_optin: " TEXT(optin)              \
  " cuda_compute_capability { major: " TEXT(major) " minor: " TEXT(minor)                          \
  " feature_extension: " TEXT(extension) " } registers_per_core_limit: 65536 "                     \
  "registers_per_block_limit: 65536 thread_dim_limit_x: 1024 thread_dim_limit_y: 1024 "            \
  "thread_dim_limit_z: 64 name: \"" kind "\" } platform_name: \"CUDA\" "                           \
  "dnn_version_info { major: 9 minor: 10 patch: 0 } device_description_str: \"" kind "\""

/* The same numbers, for XLA and for us. products in Gflop/s. */
#define CARD(name, kind, source, cores, fpus, threads, shared, optin, bandwidth, l2, ghz, memory,  \
             major, minor, extension, f32, f64)                                                    \
  {                                                                                                \
    name, &device_cuda, MEMORY(PARTS(cores, major), .cache_bytes = (l2)), kind, source,            \
        TARGET(kind, cores, fpus, threads, shared, optin, bandwidth, l2, ghz, memory, major,       \
               minor, extension),                                                                  \
        memory, l2, (bandwidth)*1e-9, 2.0 * (cores) * (fpus) * (ghz), f32, f64                     \
  }

const device device_cuda_cards[] = {
    CARD("a100-80gb", "NVIDIA A100-SXM4-80GB", "XLA: a100_sxm_80; NVIDIA A100 data sheet", 108, 64,
         2048, 167936, 166912, 2039040000000, 41943040, 1.41, 85100068864, 8, 0, NONE, 156e3,
         19.5e3),
    CARD("a100-40gb", "NVIDIA A100-SXM4-40GB", "XLA: a100_sxm_40; NVIDIA A100 data sheet", 108, 64,
         2048, 167936, 166912, 1555200000000, 41943040, 1.41, 42331013120, 8, 0, NONE, 156e3,
         19.5e3),
    CARD("h100", "NVIDIA H100 80GB HBM3", "XLA: h100_sxm; NVIDIA H100 data sheet", 132, 128, 2048,
         233472, 232448, 3352320000000, 52428800, 1.98, 84942979072, 9, 0, ACCELERATED_FEATURES,
         494e3, 67e3),
    CARD("h200", "NVIDIA H200 141GB HBM3e", "XLA: h200; NVIDIA H200 data sheet", 132, 128, 2048,
         233472, 232448, 4800000000000, 52428800, 1.98, 151397597184, 9, 0, ACCELERATED_FEATURES,
         494e3, 67e3),
    CARD("b200", "NVIDIA B200", "XLA: b200; NVIDIA Blackwell data sheet", 148, 128, 2048, 233472,
         232448, 7672320000000, 132644864, 1.965, 191514411008, 10, 0, ACCELERATED_FEATURES, 1100e3,
         37e3),
    CARD("v100", "Tesla V100-SXM2-16GB", "XLA: v100; NVIDIA V100 data sheet", 80, 64, 2048, 98304,
         98304, 898048000000, 6291456, 1.53, 16935682048, 7, 0, NONE, 15.7e3, 7.8e3),
    CARD("rtx-a6000", "NVIDIA RTX A6000", "XLA: a6000; NVIDIA RTX A6000 data sheet", 84, 128, 1536,
         102400, 101376, 768096000000, 6291456, 1.8, 51041271808, 8, 6, NONE, 77.4e3, 0.6e3),
    CARD("l4", "NVIDIA L4", "NVIDIA L4 data sheet, Ada architecture white paper", 58, 128, 1536,
         102400, 101376, 300000000000, 50331648, 2.04, 24000000000, 8, 9, NONE, 60e3, 0.47e3),
    CARD("rtx-4090", "NVIDIA GeForce RTX 4090", "NVIDIA Ada architecture white paper", 128, 128,
         1536, 102400, 101376, 1008000000000, 75497472, 2.52, 24000000000, 8, 9, NONE, 82.6e3,
         1.29e3),
    {0}};

/* No compiler for it can be had without a card: by estimate alone. */
const device device_rocm_cards[] = {{"mi300x", &device_rocm, MEMORY(.cores = 0),
                                     "AMD Instinct MI300X", "AMD Instinct MI300X data sheet", NULL,
                                     192000000000, 268435456, 5300, 163.4e3, 163.4e3, 163.4e3},
                                    {0}};
