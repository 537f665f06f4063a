#include "machine/cpu.h"

/* The reference: two cores of Sapphire Rapids, a virtual machine; machine_of_level(v4). */
enum { REFERENCE_CORES = 2, REFERENCE_VECTOR_BYTES = 64 };
/* Memory has that many cores' worth: two to four channels, of which a core fills half of one. */
static const double MEMORY_CORES = 8;
enum { XLA_VECTOR_BYTES = 32 }; /* its loops use no wider ones unless told */

typedef enum growth {
  ALONE,    /* one thread does it */
  CORES,    /* all do it, lane by lane or bound by latency */
  FUSED,    /* and in XLA's vectors */
  PRODUCTS, /* and in the machine's, where a multiply-add is one instruction or two */
  MEMORY,   /* cores, as many as memory serves */
  GROWTHS   /* how many */
} growth;

static double least(double a, double b) { return a < b ? a : b; }

static double growth_of(const machine *m, growth g) {
  double cores = (double)m->cores / REFERENCE_CORES, bytes = machine_vector_bytes(m);
  switch (g) {
    case ALONE: return 1;
    case CORES: return cores;
    case FUSED: return cores * least(bytes / XLA_VECTOR_BYTES, 1);
    case PRODUCTS: return cores * bytes / REFERENCE_VECTOR_BYTES / (machine_has_fma(m) ? 1 : 2);
    case MEMORY: return least(cores, MEMORY_CORES / REFERENCE_CORES);
    case GROWTHS: break;
  }
  return 1;
}

cpu_rates cpu_rates_of(const machine *m) {
  double by[GROWTHS];
  for (growth g = 0; g < GROWTHS; g++) by[g] = growth_of(m, g);
#define RATE(name, value, grows) .name = (value)*by[grows],
  return (cpu_rates){CPU_RATES(RATE)};
#undef RATE
}

double cpu_resident_bytes(const machine *m) { return (double)(m->l2_bytes / 2); }

/* YNN does products one by one: fused with others they take scratch that no report shows; left to
 * Eigen they pack whole operands, which none shows either, and take twice the time in f64
 * (bench/experiments/products.py). */
static const struct {
  bool by_memory, unhoisted; /* for such orders only */
  int32_t vector_bytes;      /* for such vectors only; 0: any */
  const char *option;
} options[] = {
    {false, false, 0, "xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"},
    {true, false, 0, "xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"},
    {false, true, 0, "xla_disable_hlo_passes=while-loop-invariant-code-motion"},
    {false, true, 64, "xla_cpu_prefer_vector_width=512"}, /* slices are in cache: 5 to 15 % */
};
_Static_assert(sizeof options / sizeof *options <= CPU_MOST_OPTIONS, "room for all");

void cpu_xla_options(const machine *m, bool by_memory, bool unhoisted,
                     const char *out_options[CPU_MOST_OPTIONS + 1]) {
  size_t count = 0;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (options[i].by_memory <= by_memory && options[i].unhoisted <= unhoisted &&
        (!options[i].vector_bytes || options[i].vector_bytes == machine_vector_bytes(m)))
      out_options[count++] = options[i].option;
  out_options[count] = NULL;
}
