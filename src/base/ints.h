/* The smaller and the larger of two integers, the nearest between two, quotients by positive ones,
 * the greatest common divisor, divisors of about a size, halfway between two in ratio. */
#ifndef WEIR_BASE_INTS_H
#define WEIR_BASE_INTS_H
#include <math.h>
#include <stdbool.h>
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

/* Of n, from least to most, all of them positive; 0: there is none, or none within 2^20 looks, by
 * which n has more than 39 bits. */
static inline int64_t largest_divisor(int64_t n, int64_t least, int64_t most) {
  static const int64_t most_looks = 1 << 20;
  bool is_small = most <= n / most; /* else the quotients are fewer */
  int64_t first = is_small ? most : ceil_div(n, most), last = is_small ? least : n / least,
          step = is_small ? -1 : 1;
  for (int64_t i = first, looks = 0; step * i <= step * last && looks < most_looks; i += step) {
    if (n % i == 0) return is_small ? i : n / i;
    looks++;
  }
  return 0;
}

/* Of positive ones; their product may be beyond int64. */
static inline int64_t halfway(int64_t low, int64_t high) {
  double middle = sqrt((double)low * (double)high);
  return middle < (double)high ? (int64_t)middle : high;
}

#endif
