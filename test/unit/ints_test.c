/* Divisors of about a size, against all numbers; numbers of nearly 63 bits, for which that would
 * take years, and whose products have more. */
#include "base/ints.h"

#include <assert.h>

static int64_t by_all_numbers(int64_t n, int64_t least, int64_t most) {
  int64_t c = most;
  while (c >= least && n % c) c--;
  return c >= least ? c : 0;
}

static void test_divisors(void) {
  for (int64_t n = 1; n <= 60; n++)
    for (int64_t most = 1; most <= n + 2; most++)
      for (int64_t least = 1; least <= most; least++)
        assert(largest_divisor(n, least, most) == by_all_numbers(n, least, most));
  const int64_t prime = 1099511627791, large = (int64_t)1 << 61;
  assert(largest_divisor(prime, 2, prime - 1) == 0);
  assert(largest_divisor(large, large / 8 + 1, large / 3) == large / 4);
  assert(largest_divisor(large, 3, 5) == 4);
  assert(largest_divisor(INT64_MAX, INT64_MAX / 2, INT64_MAX) == INT64_MAX);
  assert(largest_divisor(INT64_MAX, 2, 7) == 7);
}

static void test_halfway(void) {
  assert(halfway(0, 100) == 0 && halfway(1, 100) == 10 && halfway(7, 7) == 7);
  assert(halfway(INT64_MAX, INT64_MAX) == INT64_MAX);
  assert(halfway(INT64_MAX - 1, INT64_MAX) == INT64_MAX);
  assert(halfway(1, INT64_MAX) == 3037000499);
}

int main(void) {
  test_divisors();
  test_halfway();
  return 0;
}
