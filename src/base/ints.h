/* The smaller and the larger of two integers, the nearest between two, quotients by positive ones,
 * the greatest common divisor. */
#ifndef WEIR_BASE_INTS_H
#define WEIR_BASE_INTS_H
#include <stdint.h>

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t clamp64(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}
static inline int64_t floor_div(int64_t x, int64_t y) { return x / y - (x % y < 0); }
static inline int64_t ceil_div(int64_t x, int64_t y) { return -floor_div(-x, y); }
static inline int64_t common_divisor(int64_t x, int64_t y) {
  return y ? common_divisor(y, x % y) : x;
}

#endif
