/* The smaller and the larger of two integers. */
#ifndef WEIR_BASE_INTS_H
#define WEIR_BASE_INTS_H
#include <stdint.h>

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
