/* The computer at hand: instruction set from cpuid, caches and cores from the system.
 *
 * Source: the x86-64 psABI's table of micro-architecture levels; Intel's SDM, CPUID and XGETBV. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "machine/machine.h"

#if defined(__x86_64__)
#include <cpuid.h>

typedef struct features {
  unsigned basic, wide, extended; /* leaf 1 ecx; leaf 7 ebx; leaf 0x80000001 ecx */
  unsigned saved;                 /* of registers, by the system: XCR0 */
} features;

static const struct {
  machine_level level;
  features has; /* beyond the one before */
} wanted[] = {
    /* SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF */
    {MACHINE_X86_64_V2,
     {.basic = 1u | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23, .extended = 1u}},
    /* FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; SSE and AVX state */
    {MACHINE_X86_64_V3,
     {.basic = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29,
      .wide = 1u << 3 | 1u << 5 | 1u << 8,
      .extended = 1u << 5,
      .saved = 0x6}},
    /* AVX-512 F, DQ, CD, BW, VL; the state of masks and of 32 registers */
    {MACHINE_X86_64_V4,
     {.wide = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31, .saved = 0xe6}},
};

static features read_features(void) {
  features f = {0};
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d)) f.basic = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) f.wide = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) f.extended = c;
  if (f.basic >> 27 & 1) __asm__("xgetbv" : "=a"(f.saved), "=d"(d) : "c"(0));
  return f;
}

static bool has_all(unsigned found, unsigned asked) { return (found & asked) == asked; }

static machine_level host_level(void) {
  features f = read_features();
  machine_level level = MACHINE_X86_64;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    const features *w = &wanted[i].has;
    if (!has_all(f.basic, w->basic) || !has_all(f.wide, w->wide) ||
        !has_all(f.extended, w->extended) || !has_all(f.saved, w->saved))
      break;
    level = wanted[i].level;
  }
  return level;
}
#elif defined(__aarch64__)
static machine_level host_level(void) { return MACHINE_AARCH64; }
#else
#error "a processor that src/machine does not know: add its level"
#endif

/* As XLA counts them for its pool of threads: those that this process may run on. */
static int32_t host_cores(void) {
  cpu_set_t set;
  if (!sched_getaffinity(0, sizeof set, &set)) return CPU_COUNT(&set);
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 1 ? (int32_t)count : 1;
}

/* typical: what it is where the system does not say. */
static int64_t cache_bytes(int name, int64_t typical) {
  long bytes = sysconf(name);
  return bytes > 0 ? bytes : typical;
}

/* A virtual machine is told the whole processor's L3, of which it has a share: no more of it than
 * most processors have for so many cores. */
static int64_t l3_share(int64_t bytes, int32_t cores) {
  int64_t most = (int64_t)cores * (8 << 20);
  return bytes < most ? bytes : most;
}

machine machine_host(void) {
  machine m = machine_of_level(host_level());
  m.cores = host_cores();
  m.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, m.l1_bytes);
  m.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, m.l2_bytes);
  m.l3_bytes = l3_share(cache_bytes(_SC_LEVEL3_CACHE_SIZE, m.l3_bytes), m.cores);
  return m;
}

/* ---- the clock, and vectors a ns ---- */
enum { TRIALS = 16, CHAINS = 1000, CHAIN = 64, DOZENS = 8000 };

static int64_t cpu_ns(void) {
  struct timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t)) return 0;
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_time(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

int64_t machine_typical_ns(int64_t *times, int32_t n) {
  if (n == 0) return 0;
  qsort(times, (size_t)n, sizeof *times, by_time);
  return times[n / 4];
}

/* Of what `run` does `count` times, where nothing comes between: so many a ns. 0: the system has no
 * such clock. */
static double rate_of(void (*run)(void), double count) {
  int64_t times[TRIALS];
  int32_t n = 0;
  for (int32_t i = 0; i < TRIALS; i++) {
    int64_t start = cpu_ns();
    run();
    int64_t ns = cpu_ns() - start;
    if (ns > 0) times[n++] = ns;
  }
  return n ? count / (double)machine_typical_ns(times, n) : 0;
}

/* An instruction that reads what the one before wrote, CHAIN times. It adds a register: of
 * constants Intel's processors since 2021 (Golden Cove) add six a cycle, where they rename
 * registers. */
#if defined(__x86_64__)
#define ONCE "add %1, %0\n"
#else
#define ONCE "add %0, %0, %1\n"
#endif
#define EIGHT ONCE ONCE ONCE ONCE ONCE ONCE ONCE ONCE

static void run_chains(void) {
  uint64_t x = 0, y = 1;
  for (int32_t i = 0; i < CHAINS; i++)
    __asm__ volatile(EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT : "+r"(x) : "r"(y));
}

double machine_host_clock(void) { return rate_of(run_chains, (double)CHAINS * CHAIN); }

/* Twelve instructions that don't wait for each other, which is more than are on their way at a
 * time, again and again, on registers that hold zeros. */
#define TWELVE(I) I(1) I(2) I(3) I(4) I(5) I(6) I(7) I(8) I(9) I(10) I(11) I(12)
#define RUN_DOZENS(name, CLEAR, ADD, again, after)                                                 \
  static void name(void) {                                                                         \
    uint64_t n = DOZENS;                                                                           \
    __asm__ volatile(CLEAR(0) TWELVE(CLEAR) "1:\n" TWELVE(ADD) again "\n" after                    \
                     : "+r"(n)::CHANGED);                                                          \
  }
#if defined(__x86_64__)
#define CHANGED                                                                                    \
  "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",   \
      "xmm11", "xmm12"
#define AGAIN "dec %0\njnz 1b"
#define CLEAR(i) "vxorps %%xmm" #i ", %%xmm" #i ", %%xmm" #i "\n"
#define CLEAR_16(i) "xorps %%xmm" #i ", %%xmm" #i "\n"
#define ADD_64(i) "vfmadd231ps %%zmm0, %%zmm0, %%zmm" #i "\n"
#define ADD_32(i) "vfmadd231ps %%ymm0, %%ymm0, %%ymm" #i "\n"
#define ADD_16(i) "mulps %%xmm0, %%xmm" #i "\naddps %%xmm0, %%xmm" #i "\n"
RUN_DOZENS(run_vectors_of_64, CLEAR, ADD_64, AGAIN, "vzeroupper")
RUN_DOZENS(run_vectors_of_32, CLEAR, ADD_32, AGAIN, "vzeroupper")
RUN_DOZENS(run_vectors_of_16, CLEAR_16, ADD_16, AGAIN, "")
#else
#define CHANGED                                                                                    \
  "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12"
#define CLEAR(i) "movi v" #i ".4s, #0\n"
#define ADD(i) "fmla v" #i ".4s, v0.4s, v0.4s\n"
RUN_DOZENS(run_vectors, CLEAR, ADD, "subs %0, %0, #1\nb.ne 1b", "")
#endif

double machine_host_vectors(void) {
  const double dozens = (double)DOZENS * 12;
#if defined(__x86_64__)
  switch (host_level()) {
    case MACHINE_X86_64_V4: return rate_of(run_vectors_of_64, dozens);
    case MACHINE_X86_64_V3: return rate_of(run_vectors_of_32, dozens);
    default: return rate_of(run_vectors_of_16, 2 * dozens);
  }
#else
  return rate_of(run_vectors, dozens);
#endif
}
