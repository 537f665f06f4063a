/* How fast XLA and kernels are on a machine, and what XLA is told. The numbers here are CPUs';
 * those of devices: machine/device.h.
 *
 * For comparing variants of a program, not absolute. Each number is a measurement on one machine,
 * the reference; what of the description it grows with says what it is on others (cpu.c). */
#ifndef WEIR_MACHINE_CPU_H
#define WEIR_MACHINE_CPU_H
#include "machine/machine.h"

/* Name, on the reference machine, what it grows with. In G a second, that is, per ns, of all cores
 * together. */
#define CPU_RATES(R)                                                                               \
  /* ---- arithmetic ---- */                                                                       \
  R(vector_ops, 11.2, VECTORS)     /* of kernels: 0.8 of what the processor can do */              \
  R(gemm_f32_flops, 270, PRODUCTS) /* jnp.dot, 4096^3; bench/experiments/slices.py */              \
  R(gemm_f64_flops, 120, PRODUCTS)                                                                 \
  R(batched, 0.02, CORES)         /* of a batch, besides their flops: 50 to 400 ns each */         \
  R(conv_flops, 270, PRODUCTS)    /* bench/experiments/convolutions.py points; f64 half */         \
  R(conv_points, 0.07, CORES)     /* of the library's convolutions, besides, of each group */      \
  R(conv_taps, 3.0, CORES)        /* of each point, besides */                                     \
  R(conv_loops_flops, 4.0, ALONE) /* as plain loops; bench/experiments/convolutions.py */          \
  R(heavy, 5.0, FUSED)            /* exponentials in a fusion: stock.py; f64 half */               \
  R(simple, 30.0, FUSED)          /* add, compare, select likewise */                              \
  R(fft_flops, 30.0, CORES)       /* jnp.fft.fft, rows of 1024: rates.py */                        \
  R(sorted, 0.08, ALONE)          /* elements times log2 of the length; 4096^2 takes 2.3 s */      \
  R(sorted_plain, 0.4, ALONE)     /* likewise, integers alone: rates.py */                         \
  R(scattered, 2.0, ALONE) /* elements of updates, in cache: a count of 25,000 takes 13 us */      \
  R(top_k, 0.7, ALONE)     /* elements looked at: stock.py */                                      \
  R(places, 2.5, CORES)    /* of a gather, out of L2: gathers.py */                                \
  R(copied, 4.0, CORES)    /* elements of its windows, beside: 1.5 to 9 */                         \
  R(apart_l1, 6.0, CORES)  /* elements that a fusion reads a line apart: transposed.py */          \
  R(apart_l2, 2.5, CORES)  /* likewise, where L1 does not have the lines until they are */         \
  R(apart, 1.2, CORES)     /* looked at again; where L2 does not */                                \
  R(variadic, 0.4, CORES)  /* elements of reductions of several operands: one after the other */   \
  /* ---- memory ---- */                                                                           \
  R(read_bytes, 21.0, MEMORY)      /* of a fusion, 134 MB: stock.py */                             \
  R(write_bytes, 18.0, MEMORY)     /* likewise */                                                  \
  R(copied_bytes, 13.0, MEMORY)    /* half of a copy's 27 either way: read or written, unfused */  \
  R(matrix_bytes, 10.0, MEMORY)    /* a matrix-vector product reads its matrix once */             \
  R(l3_matrix_bytes, 22.0, MEMORY) /* one that stays in L3, trip after trip: matvec.py */          \
  R(near_matrix_bytes, 120.0, ALONE) /* one that stays in L2, trip after trip: launches.py */      \
  R(fresh_bytes, 5.6, PAGES)         /* first touch of pages: the system's work */                 \
  R(cached_bytes, 60.0, CORES)       /* what stays in L2 */

typedef struct machine_rates {
#define RATE(name, value, grows) double name;
  CPU_RATES(RATE)
#undef RATE
  double op_ns, trip_ns;   /* of an op, and of a trip of a while besides its ops */
  double product_ns;       /* of one that the library does, besides */
  double shared_ns;        /* of an op that XLA gives to several threads, besides; 0: of none */
  double fresh_from_bytes; /* larger temporaries are fresh memory, at fresh_bytes */
  double resident_bytes;   /* temporaries up to this stay in a cache */
  bool by_function;        /* functions take what functions.def says; else all an exponential */
} machine_rates;

machine_rates machine_rates_of(const machine *m);
/* Of a row of `seen` elements in no order: how many are among the k largest so far, and go into its
 * list. */
double machine_inserted(double k, double seen);
/* The same row's time in XLA's heap of k, on one thread. */
double machine_heap_ns(const machine_rates *rates, double k, double seen);

/* Of an element that a fusion reads along a dimension which is not the last one, so many bytes from
 * the one before it, where its line is looked at again when so many others were. A line holds some
 * of what is near. Devices do it in tiles: 0. */
double machine_apart_ns(const machine *m, const machine_rates *rates, double stride_bytes,
                        double lines);

/* ---- the same on all CPUs ---- */
/* In every trip of a loop that it is in; bench/experiments/launches.py has what an op of a few
 * elements takes, and a step of a scan. */
#define CPU_OP_NS 100.0
#define CPU_TRIP_NS 100.0    /* of a while besides its ops */
#define CPU_PRODUCT_NS 500.0 /* of two matrices: the library is called */
/* XLA gives an op to several threads from so much on: bytes that it reads and writes where it does
 * no more than one operation for each, else operations, ten times these bytes and twice its
 * functions together. It costs that beside. */
#define CPU_SHARED_NS 3000.0
#define CPU_SHARED_BYTES (2 * 262144.0)
#define CPU_SHARED_COST (2 * 100e3)
#define CPU_CALL_NS 30e3 /* of a kernel: starting helpers, waiting for the last */
/* Larger temporaries go back to the system and are fresh pages the next time. */
#define CPU_FRESH_FROM_BYTES (32.0 * 1048576)
enum { CPU_LINE_BYTES = 64 }; /* of all caches */

/* What stays in a core's L2 beside what else goes through it. */
double cpu_resident_bytes(const machine *m);

/* ---- XLA ---- */
/* How XLA is to run a program. */
typedef struct machine_way {
  bool is_stock;     /* as without weir, but for functions */
  bool by_memory;    /* in the order of its scheduler that saves memory */
  bool unhoisted;    /* what does not change in a loop stays there */
  bool unshared;     /* each op of what it fuses on one thread */
  bool by_ynn;       /* convolutions that are not for Eigen */
  bool in_functions; /* a while whose steps touch up to CPU_STEP_BYTES as one function: it starts
                        none of their ops by itself (bench/experiments/steps.py) */
  bool by_loops;     /* products, which are all small: a library's are no function's */
} machine_way;
enum { CPU_STEP_BYTES = 65536, CPU_OWN_STEP_BYTES = 1024 /* XLA's, untold */ };

/* What XLA is told for that: "name=value", NULL-terminated, static, at most MACHINE_MOST_OPTIONS,
 * with one more below. */
enum { MACHINE_MOST_OPTIONS = 6 };
void machine_xla_options(const machine *m, machine_way way,
                         const char *out_options[MACHINE_MOST_OPTIONS + 1]);
/* What XLA is told besides where nothing but its report is wanted, which is the same in half of the
 * time; NULL: nothing. */
const char *machine_xla_report_only(const machine *m);
/* Of another way in which XLA may compile the program whatever it is told, and which a limit must
 * hold, too; NULL: there is none. */
const char *machine_xla_otherwise(const machine *m);

/* ---- convolutions inside of loops ---- */
/* Below these Eigen's copies of patches are not worth it, and plain loops are faster: output
 * features of a group, and of a volume with a single input feature; flops of a point of all others,
 * twice its window's taps times input and output features. */
#define CPU_PATCHES(R)                                                                             \
  R(few_in_group, 4, ALONE) /* one thread of either; the same with vectors of 16 and 32 bytes: */  \
  R(few_in_volume, 16, ALONE) /* docs/design/convolutions.md */                                    \
  R(few_flops, 128, ALONE)    /* bench/experiments/convolutions.py few */

typedef struct machine_patches {
#define PATCHES(name, value, grows) int64_t name;
  CPU_PATCHES(PATCHES)
#undef PATCHES
} machine_patches;

machine_patches machine_patches_on(const machine *m);

/* ---- slices ---- */
/* XLA's ReduceWindowRewriter: prefix sums of so many elements at the most are made in one pass, of
 * more in tiles of so many, with transposes around them. Of 8, 16 and from 64 on an element takes
 * 1.5, 4 and 14 ns on one thread. */
enum { CPU_SCAN_TILE = 16 };
/* Its TreeReductionRewriter: sums of more elements become trees of sums of so many. */
enum { CPU_TREE_WINDOW = 32 };
typedef struct machine_slices {
  int64_t first_bytes;   /* of the largest value's slice: what is tried first */
  int64_t cached_bytes;  /* where no product wants more */
  int64_t generous;      /* times the slice, for products that do */
  int64_t scanned_bytes; /* slices of so much may be short for prefix sums' sake; 0: none may */
} machine_slices;
/* CPUs: what stays in cache. Devices: the largest that may fit under the limit, since each trip
 * costs launches and short ones don't fill the device. */
machine_slices machine_slices_under(const machine *m, int64_t limit_bytes);

#endif
