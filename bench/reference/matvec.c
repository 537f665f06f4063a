/* y = K v for a Gaussian kernel, as somebody would write it for this one machine: distances of a
 * block in L1, then exp and the product. gcc -O3 -march=native -ffast-math -fopenmp matvec.c -lm;
 * -DF32 for float. ./a.out N D REPEATS prints the seconds of each run, then those of CPU time; the
 * first run has cold caches.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef F32
typedef float real;
#define EXP expf
#else
typedef double real;
#define EXP exp
#endif

enum { ROWS = 64, COLUMNS = 512 };

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static real row_of_block(long columns, long n, int d, const real *x, const real *xt,
                         const real *v) {
  real distance[COLUMNS] = {0}, sum = 0;
  for (int k = 0; k < d; k++)
    for (long j = 0; j < columns; j++) {
      real z = x[k] - xt[k * n + j];
      distance[j] += z * z;
    }
  for (long j = 0; j < columns; j++) sum += EXP((real)-0.5 * distance[j]) * v[j];
  return sum;
}

static void matvec(long n, int d, const real *x, const real *xt, const real *v, real *y) {
#pragma omp parallel for schedule(dynamic, 1)
  for (long row = 0; row < n; row += ROWS) {
    long rows = n - row < ROWS ? n - row : ROWS;
    real sums[ROWS] = {0};
    for (long column = 0; column < n; column += COLUMNS) {
      long columns = n - column < COLUMNS ? n - column : COLUMNS;
      for (long i = 0; i < rows; i++)
        sums[i] += row_of_block(columns, n, d, x + (row + i) * d, xt + column, v + column);
    }
    for (long i = 0; i < rows; i++) y[row + i] = sums[i];
  }
}

int main(int argc, char **argv) {
  if (argc < 4) return 1;
  long n = atol(argv[1]);
  int d = atoi(argv[2]), repeats = atoi(argv[3]);
  size_t size = sizeof(real) * (size_t)n;
  real *x = malloc(size * (size_t)d), *xt = malloc(size * (size_t)d), *v = malloc(size),
       *y = malloc(size);
  if (!x || !xt || !v || !y) return 1;
  for (long i = 0; i < n; i++) {
    v[i] = (real)rand() / (real)RAND_MAX;
    for (int k = 0; k < d; k++) xt[k * n + i] = x[i * d + k] = (real)rand() / (real)RAND_MAX;
  }
  for (int r = 0; r < repeats; r++) {
    double begin = now(CLOCK_MONOTONIC), cpu_begin = now(CLOCK_PROCESS_CPUTIME_ID);
    matvec(n, d, x, xt, v, y);
    printf("%.6f %.6f %g\n", now(CLOCK_MONOTONIC) - begin,
           now(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin, (double)y[0]);
  }
  return 0;
}
