/* The K nearest of N points for M queries by squared L2 distance, as somebody would write it for
 * one machine with AVX-512: packed panels of 32 points, a register tile of 12 queries by 32 points,
 * the test against the worst of a query's heap in registers. The distance matrix is nowhere. gcc
 * -O3 -march=native -mprefer-vector-width=512 -ffast-math -fopenmp knn.c -lm; ./a.out N D M REPEATS
 * prints the seconds of each run.
 */
#include <immintrin.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 12, PANEL = 32, BLOCK = 512, K = 10 };

typedef struct heap { /* the largest first */
  float distance[K];
  int index[K];
} heap;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
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

static void insert(heap *h, __m512 low, __m512 high, unsigned hits, long first) {
  float tile[PANEL];
  _mm512_storeu_ps(tile, low);
  _mm512_storeu_ps(tile + 16, high);
  for (; hits; hits &= hits - 1) {
    int lane = __builtin_ctz(hits);
    if (tile[lane] < h->distance[0]) replace_largest(h, tile[lane], (int)first + lane);
  }
}

static inline void tile_of(const float *x, const float *y, const float *norms, int d, heap *h,
                           long first) {
  __m512 sum[ROWS][2], low = _mm512_loadu_ps(norms), high = _mm512_loadu_ps(norms + 16);
  for (int r = 0; r < ROWS; r++) sum[r][0] = low, sum[r][1] = high;
  for (int p = 0; p < d; p++) {
    low = _mm512_load_ps(y + p * PANEL);
    high = _mm512_load_ps(y + p * PANEL + 16);
#pragma GCC unroll 12
    for (int r = 0; r < ROWS; r++) {
      __m512 q = _mm512_set1_ps(x[p * ROWS + r]);
      sum[r][0] = _mm512_fmadd_ps(q, low, sum[r][0]);
      sum[r][1] = _mm512_fmadd_ps(q, high, sum[r][1]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < ROWS; r++) {
    __m512 worst = _mm512_set1_ps(h[r].distance[0]);
    unsigned hits = _mm512_cmp_ps_mask(sum[r][0], worst, _CMP_LT_OQ) |
                    (unsigned)_mm512_cmp_ps_mask(sum[r][1], worst, _CMP_LT_OQ) << 16;
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
          tile_of(packed + q * d, panels + b * d, norms + b, d, own + q, j + b);
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
    double begin = now();
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
    printf("%.6f %d\n", now() - begin, heaps[0].index[0]);
  }
  return 0;
}
