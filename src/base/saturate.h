/* Sums and products of sizes, and what is predicted, that stay at INT64_MAX instead of overflowing:
 * too large to be had is all that anybody wants to know then. Nothing is negative. */
#ifndef WEIR_BASE_SATURATE_H
#define WEIR_BASE_SATURATE_H
#include <stdint.h>

static inline int64_t saturated_int(double x) { return x < 0x1p63 ? (int64_t)x : INT64_MAX; }

static inline int64_t saturated_sum(int64_t x, int64_t y) {
  int64_t r;
  return __builtin_add_overflow(x, y, &r) ? INT64_MAX : r;
}

static inline int64_t saturated_product(int64_t x, int64_t y) {
  int64_t r;
  return __builtin_mul_overflow(x, y, &r) ? INT64_MAX : r;
}

#endif
