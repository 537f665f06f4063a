/* TPUs. Bandwidth and products in bf16, which XLA takes for f32 by default: Google Cloud's pages
 * "TPU v4", "v5e", "v5p", "v6e" (system architecture). Memory: what XLA:TPU says that it has, in
 * its message where a program is larger. */
#include <stddef.h>

#include "machine/device.h"

/* One program runs on the chip: an op is no launch from outside. Tiles: XLA's documentation, "Tiled
 * layout", and the layouts that XLA:TPU prints. Small temporaries in memory lie 16 KiB apart, and
 * its report has what is between them twice: 32,256 bytes for one of 512. Of a loop's that XLA
 * makes of an op there are 4 to 11 in the corpus. */
#define NEAR .near_bytes = (int64_t)96 << 20
#define TILES(...)                                                                                 \
  {                                                                                                \
    .tile_rows = 8, .tile_lanes = 128, .vector_lanes = 1024, .align_bytes = 512,                   \
    .loop_bytes = 352 << 10, .spacing_bytes = 16 << 10, .lays_out_anew = true,                     \
    .copies_for_loops = true, .fuses_sums = true, .fuses_products = true, .fuses_siblings = true,  \
    .narrow_floats = true, .has_groups = true, __VA_ARGS__                                         \
  }
const device_platform device_tpu = {"tpu", 1e3, 1e3, NULL};
static const device_memory single = TILES(NEAR);
/* Two cores that run one program, each with its own memory on the chip: XLA:TPU puts nothing there
 * that both read. v4 has 128 MiB more for both, of which not all is used. Both have less arithmetic
 * for what they read than v5e and v6e, so that several products' operand is computed once. */
static const device_memory pairs = TILES(.near_bytes = 0, .keeps_for_products = true),
                           v4 = TILES(NEAR, .keeps_for_products = true);

/* Lanes: 8 x 128 with 4 units each, beside 4 arrays of 128 x 128 multiply-adds. */
static const double VECTOR_SHARE = 1.0 / 32;
/* f64 is made of f32, which are made of bf16: passes. */
static const double F64_SHARE = 1.0 / 64;

#define GIB_QUARTERS(n) ((int64_t)(n) << 28)
#define CHIP(name, memory, kind, topology, quarters, bandwidth, bf16)                              \
  {                                                                                                \
    name, &device_tpu, &memory, kind, "Google Cloud, TPU system architecture; XLA:TPU", topology,  \
        GIB_QUARTERS(quarters), (int64_t)128 << 20, bandwidth, (bf16)*VECTOR_SHARE, bf16,          \
        (bf16)*F64_SHARE                                                                           \
  }

const device device_tpu_chips[] = {CHIP("v5e", single, "TPU v5 lite", "v5e:2x2", 63, 819, 197e3),
                                   CHIP("v4", v4, "TPU v4", "v4:2x2x1 megacore", 123, 1228, 275e3),
                                   CHIP("v5p", pairs, "TPU v5", "v5p:2x2x1", 382, 2765, 459e3),
                                   CHIP("v6e", single, "TPU v6 lite", "v6e:2x2", 125, 1640, 918e3),
                                   {0}};
