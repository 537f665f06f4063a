#include "machine/cpu.h"

#include <assert.h>
#include <math.h>

#include "machine/tuned.h"

/* The reference: two cores of Sapphire Rapids, a virtual machine; machine_of_level(v4). */
enum { REFERENCE_CORES = 2, REFERENCE_VECTOR_BYTES = 64 };
static const double REFERENCE_CLOCK = 3.5, REFERENCE_VECTORS = 7.0;
/* Memory has that many cores' worth: two to four channels, of which a core fills half of one. */
static const double MEMORY_CORES = 8;
enum { XLA_VECTOR_BYTES = 32 }; /* its loops use no wider ones unless told */

typedef enum growth {
  ALONE,    /* one thread does it */
  CORES,    /* all do it, lane by lane or bound by latency */
  VECTORS,  /* as fast as vectors are multiplied and added */
  FUSED,    /* and in XLA's vectors */
  PRODUCTS, /* and in the machine's, where a multiply-add is one instruction or two */
  MEMORY,   /* cores, as many as memory serves */
  PAGES,    /* likewise, however fast it is read */
  GROWTHS   /* how many */
} growth;

static double least(double a, double b) { return a < b ? a : b; }

static double growth_of(const machine *m, growth g) {
  double cores = (double)m->cores / REFERENCE_CORES, bytes = machine_vector_bytes(m);
  double clock = m->rates.clock > 0 ? m->rates.clock / REFERENCE_CLOCK : 1;
  switch (g) {
    case ALONE: return clock;
    case CORES:
    case VECTORS: return clock * cores;
    case FUSED: return clock * cores * least(bytes / XLA_VECTOR_BYTES, 1);
    case PRODUCTS:
      return clock * cores * bytes / REFERENCE_VECTOR_BYTES / (machine_has_fma(m) ? 1 : 2);
    case MEMORY:
    case PAGES: return least(cores, MEMORY_CORES / REFERENCE_CORES);
    case GROWTHS: break;
  }
  return 1;
}

/* What stands for a growth was measured, or else the growth is the description's. */
static double measured_growth(const machine *m, growth g) {
#define RATE(name, value, grows) .name = value,
  const machine_rates reference = {CPU_RATES(RATE)};
#undef RATE
  double products = m->rates.products / reference.gemm_f32_flops,
         fused = m->rates.fused / reference.heavy, memory = m->rates.memory / reference.read_bytes,
         vectors = m->rates.vectors / REFERENCE_VECTORS * m->cores / REFERENCE_CORES;
  double found = g == VECTORS    ? vectors
                 : g == PRODUCTS ? products
                 : g == FUSED    ? fused
                 : g == MEMORY   ? memory
                                 : 0;
  return found > 0 ? found : growth_of(m, g);
}

static machine_rates rates_of_cpu(const machine *m) {
  double by[GROWTHS];
  for (growth g = 0; g < GROWTHS; g++) by[g] = measured_growth(m, g);
#define RATE(name, value, grows) .name = (value)*by[grows],
  return (machine_rates){CPU_RATES(RATE).op_ns = CPU_OP_NS,
                         .trip_ns = CPU_TRIP_NS,
                         .product_ns = CPU_PRODUCT_NS,
                         .shared_ns = m->cores > 1 ? CPU_SHARED_NS : 0,
                         .fresh_from_bytes = CPU_FRESH_FROM_BYTES,
                         .resident_bytes = cpu_resident_bytes(m),
                         .by_function = true};
#undef RATE
}

/* Bound by memory, or by arithmetic at full rate. What a description does not tell is taken to be a
 * share of these: sorts pass over memory once for each bit of an index, scattered and gathered
 * elements move a sector of 32 bytes each. */
static machine_rates rates_of_device(const device *d) {
  const double sector = 32, heavy = 8;
  return (machine_rates){.vector_ops = d->ops,
                         .gemm_f32_flops = d->products_f32,
                         .gemm_f64_flops = d->products_f64,
                         .conv_flops = d->products_f32 / 2,
                         .conv_loops_flops = d->products_f32 / 2,
                         .conv_points = INFINITY,
                         .batched = INFINITY,
                         .conv_taps = INFINITY,
                         .heavy = d->ops / heavy,
                         .simple = d->ops,
                         .fft_flops = d->ops / heavy,
                         .sorted = d->bytes / sector,
                         .sorted_plain = d->bytes / sector,
                         .scattered = d->bytes / sector,
                         .top_k = d->bytes / heavy,
                         .places = d->bytes / sector,
                         .copied = d->bytes / heavy,
                         .apart_l1 = INFINITY,
                         .apart_l2 = INFINITY,
                         .apart = INFINITY,
                         .variadic = d->bytes / heavy,
                         .read_bytes = d->bytes,
                         .write_bytes = d->bytes,
                         .copied_bytes = d->bytes,
                         .matrix_bytes = d->bytes,
                         .l3_matrix_bytes = d->bytes,
                         .near_matrix_bytes = d->bytes * 2,
                         .fresh_bytes = d->bytes,
                         .cached_bytes = d->bytes * 2,
                         .op_ns = d->platform->op_ns,
                         .trip_ns = d->platform->trip_ns,
                         .fresh_from_bytes = INFINITY, /* one pool, never given back */
                         .resident_bytes = (double)(d->cache_bytes / 2)};
}

machine_patches machine_patches_on(const machine *m) {
#define PATCHES(name, value, grows) .name = (int64_t)(value * growth_of(m, grows)),
  return (machine_patches){CPU_PATCHES(PATCHES)};
#undef PATCHES
}

machine_rates machine_rates_of(const machine *m) {
  machine_rates r = m->device ? rates_of_device(m->device) : rates_of_cpu(m);
#define RATE(name, value, grows) assert(r.name > 0); /* a time is something divided by it */
  CPU_RATES(RATE)
#undef RATE
  return r;
}

double machine_inserted(double k, double seen) { return k * (1 + log(fmax(1, seen / k))); }

double machine_heap_ns(const machine_rates *rates, double k, double seen) {
  return machine_inserted(k, seen) * fmax(1, log2(k)) / (rates->sorted * TUNED_HEAP);
}

double machine_apart_ns(const machine *m, const machine_rates *rates, double stride_bytes,
                        double lines) {
  assert(stride_bytes >= 0 && lines >= 0);
  if (m->device) return 0;
  double near = fmin(1, stride_bytes / CPU_LINE_BYTES), bytes = lines * near * CPU_LINE_BYTES;
  double rate = bytes <= (double)m->l1_bytes   ? rates->apart_l1
                : bytes <= (double)m->l2_bytes ? rates->apart_l2
                                               : rates->apart;
  return near / rate;
}

double cpu_resident_bytes(const machine *m) { return (double)(m->l2_bytes / 2); }

/* YNN does products one by one: fused with others they take scratch that no report shows; left to
 * Eigen they pack whole operands, which none shows either, and take twice the time in f64
 * (bench/experiments/products.py). Convolutions that Eigen has not the types for would be plain
 * loops, 10 to 45 times as slow as YNN's; Eigen's own take half of the time of YNN's, backwards
 * (bench/experiments/convolutions.py). */
enum {
  BY_MEMORY = 1,
  UNHOISTED = 2,
  UNSHARED = 4,
  BY_YNN = 8,
  FUNCTIONS = 16,
  BY_LOOPS = 32,
  STOCK = 64,
  PASSES = UNHOISTED | UNSHARED,
  LIBRARY = STOCK | BY_LOOPS | BY_YNN,
};
static const struct {
  int asked, wanted;    /* of the way's properties: these are to be those */
  int32_t vector_bytes; /* for such vectors only; 0: any */
  const char *option;
} options[] = {
    {LIBRARY, 0, 0, "xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"},
    {LIBRARY, BY_YNN, 0,
     "xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,"
     "LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"},
    {BY_LOOPS, BY_LOOPS, 0, "xla_cpu_experimental_ynn_fusion_type="},
    {FUNCTIONS, FUNCTIONS, 0, "xla_cpu_small_while_loop_byte_threshold=65536"},
    {BY_MEMORY, BY_MEMORY, 0, "xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"},
    {PASSES, UNHOISTED, 0, "xla_disable_hlo_passes=while-loop-invariant-code-motion"},
    {PASSES, UNSHARED, 0, "xla_disable_hlo_passes=cpu-parallel-task-assigner"},
    {PASSES, PASSES, 0,
     "xla_disable_hlo_passes=while-loop-invariant-code-motion,cpu-parallel-task-assigner"},
    {UNHOISTED, UNHOISTED, 64, "xla_cpu_prefer_vector_width=512"}, /* slices are in cache: 5-15 % */
};

/* Devices report honestly as they come, and keep what they carry in place. */
void machine_xla_options(const machine *m, machine_way way,
                         const char *out_options[MACHINE_MOST_OPTIONS + 1]) {
  int is = (way.by_memory ? BY_MEMORY : 0) | (way.unhoisted ? UNHOISTED : 0) |
           (way.unshared ? UNSHARED : 0) | (way.by_ynn ? BY_YNN : 0) |
           (way.in_functions ? FUNCTIONS : 0) | (way.by_loops ? BY_LOOPS : 0) |
           (way.is_stock ? STOCK : 0);
  static_assert(CPU_STEP_BYTES == 65536, "as above");
  size_t count = 0;
  for (size_t i = 0; !m->device && i < sizeof options / sizeof *options; i++)
    if ((is & options[i].asked) == options[i].wanted &&
        (!options[i].vector_bytes || options[i].vector_bytes == machine_vector_bytes(m)))
      out_options[count++] = options[i].option;
  assert(count <= MACHINE_MOST_OPTIONS);
  out_options[count] = NULL;
}

/* What LLVM makes of kernels changes no buffer. */
const char *machine_xla_report_only(const machine *m) {
  return m->device ? NULL : "xla_backend_optimization_level=0";
}

const char *machine_xla_otherwise(const machine *m) {
  return m->device ? m->device->platform->otherwise : NULL;
}

/* Flat optimum on CPU: docs/design/loop-emission-facts.md, section 6. */
static const machine_slices CPU_SLICES = {8 << 20, 1 << 20, 8, 1 << 16};
enum { CPU_SHARE = 8, DEVICE_SHARE = 2 }; /* of the limit */

machine_slices machine_slices_under(const machine *m, int64_t limit_bytes) {
  assert(limit_bytes >= 0);
  int64_t share = limit_bytes / (m->device ? DEVICE_SHARE : CPU_SHARE);
  if (m->device) return (machine_slices){share, share, 1, 0};
  machine_slices s = CPU_SLICES;
  if (share < s.first_bytes) s.first_bytes = share;
  return s;
}
