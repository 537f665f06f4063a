/* The K nearest of N points for M queries by squared L2 distance, as somebody would write it for
 * one machine: packed panels of two vectors of points, a register tile of as many queries as the
 * registers bear (AVX-512: 12 by 32 points; AVX2: 6 by 16; SSE: 6 by 8), the test against the worst
 * of a query's heap in registers. The distance matrix is nowhere. gcc -O3 -march=native
 * -mprefer-vector-width=512 -ffast-math -fopenmp knn.c -lm; ./a.out N D M REPEATS prints the
 * seconds of each run, and those of CPU time.
 */
#include <immintrin.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
enum { LANES = 16, ROWS = 12 };
#elif defined(__AVX__)
enum { LANES = 8, ROWS = 6 };
#else
enum { LANES = 4, ROWS = 6 };
#endif
enum { PANEL = 2 * LANES, BLOCK = 512, K = 10 };
typedef float vector __attribute__((vector_size(4 * LANES)));
typedef float loose __attribute__((vector_size(4 * LANES), aligned(4))); /* anywhere in memory */

/* A bit for each lane of x that is less than that of y. */
static inline unsigned below(vector x, vector y) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(x, y, _CMP_LT_OQ);
#elif defined(__AVX__)
  return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_LT_OQ));
#else
  return (unsigned)_mm_movemask_ps(_mm_cmplt_ps(x, y));
#endif
}

typedef struct heap { /* the largest first */
  float distance[K];
  int index[K];
} heap;

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void replace_largest(heap *h, float distance, int index) {
  int i = 0;
  for (int child; (child = 2 * i + 1) < K; i = child) {
    if (child + 1 < K && h->distance[child + 1] > h->distance[child]) child++;
    if (h->distance[child] <= distance) break;
    h->distance[i] = h->distance[child];
    h->index[i] = h->index[child];
  }
  h->distance[i] = distance;
  h->index[i] = index;
}

static void insert(heap *h, vector low, vector high, unsigned hits, long first) {
  float tile[PANEL];
  *(loose *)tile = low;
  *(loose *)(tile + LANES) = high;
  for (; hits; hits &= hits - 1) {
    int lane = __builtin_ctz(hits);
    if (tile[lane] < h->distance[0]) replace_largest(h, tile[lane], (int)first + lane);
  }
}

static inline void kernel_of(const float *x, const float *y, const float *norms, int d, heap *h,
                           long first) {
  vector sum[ROWS][2], low = *(const loose *)norms, high = *(const loose *)(norms + LANES);
  for (int r = 0; r < ROWS; r++) sum[r][0] = low, sum[r][1] = high;
  for (int p = 0; p < d; p++) {
    low = *(const vector *)(y + p * PANEL);
    high = *(const vector *)(y + p * PANEL + LANES);
#pragma GCC unroll 12
    for (int r = 0; r < ROWS; r++) {
      float q = x[p * ROWS + r];
      sum[r][0] += q * low;
      sum[r][1] += q * high;
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < ROWS; r++) {
    vector worst = h[r].distance[0] - (vector){0};
    unsigned hits = below(sum[r][0], worst) | below(sum[r][1], worst) << LANES;
    if (__builtin_expect(hits != 0, 0)) insert(h + r, sum[r][0], sum[r][1], hits, first);
  }
}

static void pack_points(const float *y, long first, long n, int d, float *panels, float *norms) {
  for (long b = 0; b < BLOCK; b++) {
    float *panel = panels + b / PANEL * PANEL * d + b % PANEL, norm = INFINITY;
    bool is_there = first + b < n;
    for (int p = 0; p < d; p++) panel[p * PANEL] = is_there ? y[(first + b) * d + p] : 0;
    if (is_there) norm = 0;
    for (int p = 0; p < d; p++) norm += panel[p * PANEL] * panel[p * PANEL];
    norms[b] = is_there ? norm : INFINITY;
  }
}

static void search(const float *y, const float *packed, long n, int d, long padded, heap *heaps) {
#pragma omp parallel
  {
    float *panels = aligned_alloc(64, sizeof(float) * BLOCK * (size_t)d), norms[BLOCK];
    heap *own = heaps + omp_get_thread_num() * padded;
#pragma omp for schedule(dynamic, 4)
    for (long j = 0; j < n; j += BLOCK) {
      pack_points(y, j, n, d, panels, norms);
      for (long q = 0; q < padded; q += ROWS)
        for (long b = 0; b < BLOCK && j + b < n; b += PANEL)
          kernel_of(packed + q * d, panels + b * d, norms + b, d, own + q, j + b);
    }
    free(panels);
  }
}

int main(int argc, char **argv) {
  if (argc < 5) return 1;
  long n = atol(argv[1]), m = atol(argv[3]), padded = (m + ROWS - 1) / ROWS * ROWS;
  int d = atoi(argv[2]), repeats = atoi(argv[4]), threads = omp_get_max_threads();
  float *y = malloc(sizeof *y * (size_t)(n * d)), *x = malloc(sizeof *x * (size_t)(m * d)),
        *packed = calloc((size_t)(padded * d), sizeof *packed);
  heap *heaps = malloc(sizeof *heaps * (size_t)(padded * threads));
  if (!y || !x || !packed || !heaps) return 1;
  for (long i = 0; i < n * d; i++) y[i] = (float)rand() / (float)RAND_MAX;
  for (long i = 0; i < m * d; i++) x[i] = (float)rand() / (float)RAND_MAX;
  for (int r = 0; r < repeats; r++) {
    double begin = now(CLOCK_MONOTONIC), cpu_begin = now(CLOCK_PROCESS_CPUTIME_ID);
    for (long q = 0; q < m; q++)
      for (int p = 0; p < d; p++)
        packed[q / ROWS * ROWS * d + p * ROWS + q % ROWS] = -2 * x[q * d + p];
    for (long i = 0; i < padded * threads; i++)
      for (int k = 0; k < K; k++) heaps[i].distance[k] = INFINITY, heaps[i].index[k] = -1;
    search(y, packed, n, d, padded, heaps);
    for (long i = padded; i < padded * threads; i++) /* the other threads' */
      for (int k = 0; k < K; k++)
        if (heaps[i].distance[k] < heaps[i % padded].distance[0])
          replace_largest(&heaps[i % padded], heaps[i].distance[k], heaps[i].index[k]);
    printf("%.6f %.6f %d\n", now(CLOCK_MONOTONIC) - begin,
           now(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin, heaps[0].index[0]);
  }
  return 0;
}
