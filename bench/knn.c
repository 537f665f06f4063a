/* The speed a generated kernel has to reach: the k nearest neighbours in squared distance, by hand.
 *
 * knn N D M K REPEATS: N points and M queries of D dimensions, random. Prints for each repeat the
 * seconds of wall and of CPU time. Panels of 32 packed points, a 12 x 32 register tile that starts
 * from |y|^2, the threshold test in registers, a heap a query and thread on a hit; no distance
 * matrix anywhere. NaNs and ties as they come. gcc -O3 -march=native -mprefer-vector-width=512
 * -ffast-math -fopenmp; AVX-512.
 */
#include <immintrin.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 12, PANEL = 32, BLOCK = 512 };

typedef struct problem {
  long n, d, m, k, padded; /* padded: queries in whole groups */
  const float *y, *x;
  float *groups; /* -2 x as [group][dimension][row] */
} problem;

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sift(float *heap, int *index, long k, float value, int at) {
  long i = 0;
  for (long c; (c = 2 * i + 1) < k; i = c) {
    if (c + 1 < k && heap[c + 1] > heap[c]) c++;
    if (heap[c] <= value) break;
    heap[i] = heap[c];
    index[i] = index[c];
  }
  heap[i] = value;
  index[i] = at;
}

static void insert(__m512 low, __m512 high, unsigned mask, float *heap, int *index, long k,
                   long j) {
  float values[PANEL];
  _mm512_storeu_ps(values, low);
  _mm512_storeu_ps(values + 16, high);
  for (; mask; mask &= mask - 1) {
    int q = __builtin_ctz(mask);
    if (values[q] < heap[0]) sift(heap, index, k, values[q], (int)j + q);
  }
}

static inline void tile(const problem *p, const float *x, const float *y, const float *norms,
                        float *heaps, int *indices, long j) {
  __m512 a[ROWS][2], first = _mm512_loadu_ps(norms), second = _mm512_loadu_ps(norms + 16);
  for (int r = 0; r < ROWS; r++) a[r][0] = first, a[r][1] = second;
  for (long i = 0; i < p->d; i++) {
    __m512 low = _mm512_load_ps(y + i * PANEL), high = _mm512_load_ps(y + i * PANEL + 16);
#pragma GCC unroll 12
    for (int r = 0; r < ROWS; r++) {
      __m512 b = _mm512_set1_ps(x[i * ROWS + r]);
      a[r][0] = _mm512_fmadd_ps(b, low, a[r][0]);
      a[r][1] = _mm512_fmadd_ps(b, high, a[r][1]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < ROWS; r++) {
    float *heap = heaps + r * p->k;
    __m512 worst = _mm512_set1_ps(heap[0]);
    unsigned mask = _mm512_cmp_ps_mask(a[r][0], worst, _CMP_LT_OQ) |
                    (unsigned)_mm512_cmp_ps_mask(a[r][1], worst, _CMP_LT_OQ) << 16;
    if (__builtin_expect(mask != 0, 0))
      insert(a[r][0], a[r][1], mask, heap, indices + r * p->k, p->k, j);
  }
}

static void pack_panel(const problem *p, long j, float *panel, float *norms) {
  for (long q = 0; q < PANEL; q++) {
    float sum = 0;
    for (long i = 0; i < p->d; i++) {
      float v = j + q < p->n ? p->y[(j + q) * p->d + i] : 0;
      panel[i * PANEL + q] = v;
      sum += v * v;
    }
    norms[q] = j + q < p->n ? sum : INFINITY;
  }
}

static void pack_queries(const problem *p) {
  memset(p->groups, 0, sizeof(float) * (size_t)(p->padded * p->d));
  for (long q = 0; q < p->m; q++)
    for (long i = 0; i < p->d; i++)
      p->groups[q / ROWS * ROWS * p->d + i * ROWS + q % ROWS] = -2 * p->x[q * p->d + i];
}

static void *aligned(size_t bytes) { return aligned_alloc(64, (bytes + 127) / 64 * 64); }

static void work(const problem *p, float *heaps, int *indices) {
  float *panels = aligned(sizeof(float) * (size_t)(BLOCK * p->d)), *norms = aligned(4 * BLOCK);
#pragma omp for schedule(dynamic, 4)
  for (long j = 0; j < p->n; j += BLOCK) {
    long end = j + BLOCK < p->n ? j + BLOCK : p->n;
    for (long b = j; b < end; b += PANEL)
      pack_panel(p, b, panels + (b - j) * p->d, norms + (b - j));
    for (long q = 0; q < p->padded; q += ROWS)
      for (long b = j; b < end; b += PANEL)
        tile(p, p->groups + q * p->d, panels + (b - j) * p->d, norms + (b - j), heaps + q * p->k,
             indices + q * p->k, b);
  }
  free(panels);
  free(norms);
}

/* What all threads found goes to the first one's lists. */
static void search(const problem *p, float *heaps, int *indices, int threads) {
  long entries = p->padded * p->k;
  pack_queries(p);
  for (long i = 0; i < entries * threads; i++) heaps[i] = INFINITY, indices[i] = -1;
#pragma omp parallel
  work(p, heaps + omp_get_thread_num() * entries, indices + omp_get_thread_num() * entries);
  for (long t = 1; t < threads; t++)
    for (long i = 0; i < p->m * p->k; i++) {
      long q = i / p->k * p->k;
      float value = heaps[t * entries + i];
      if (value < heaps[q]) sift(heaps + q, indices + q, p->k, value, indices[t * entries + i]);
    }
}

static float *random_points(size_t count) {
  float *points = aligned(sizeof(float) * count);
  unsigned state = 1;
  for (size_t i = 0; i < count; i++)
    points[i] = (float)((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f;
  return points;
}

int main(int count, char **words) {
  if (count < 6) return fprintf(stderr, "usage: knn N D M K REPEATS\n"), 2;
  problem p = {.n = atol(words[1]), .d = atol(words[2]), .m = atol(words[3]), .k = atol(words[4])};
  int threads = omp_get_max_threads();
  p.padded = (p.m + ROWS - 1) / ROWS * ROWS;
  p.y = random_points((size_t)(p.n * p.d));
  p.x = random_points((size_t)(p.m * p.d));
  p.groups = aligned(sizeof(float) * (size_t)(p.padded * p.d));
  size_t entries = (size_t)(p.padded * p.k * threads);
  float *heaps = malloc(sizeof(float) * entries);
  int *indices = malloc(sizeof(int) * entries);
  for (int i = 0; i < atoi(words[5]); i++) {
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    search(&p, heaps, indices, threads);
    printf("%.6f %.6f\n", seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  }
  return indices[0] < 0;
}
