/* FNV-1a, of 32 bits for tables in memory and of 64 for names that outlive the process; and a mix
 * of 64-bit words for tables that take an equal hash for equality. */
#ifndef WEIR_BASE_HASH_H
#define WEIR_BASE_HASH_H
#include <stddef.h>
#include <stdint.h>

static const uint32_t HASH_BEGIN = 2166136261u;
static const uint64_t HASH_WIDE_BEGIN = 14695981039346656037u;

static inline uint32_t hash_mix(uint32_t h, uint32_t x) { return (h ^ x) * 16777619u; }

static inline uint32_t hash_bytes(uint32_t h, const void *data, size_t length) {
  const unsigned char *p = data;
  for (size_t i = 0; i < length; i++) h = hash_mix(h, p[i]);
  return h;
}

static inline uint64_t hash_wide(uint64_t h, const void *data, size_t length) {
  const unsigned char *p = data;
  for (size_t i = 0; i < length; i++) h = (h ^ p[i]) * 1099511628211u;
  return h;
}

/* One-to-one in h for each x and in x for each h, and small h and x are first spread over all bits:
 * pairs of small numbers, such as ids, do not meet more often than random words would. */
static inline uint64_t hash_mix_wide(uint64_t h, uint64_t x) {
  h ^= x * 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 32)) * 0xff51afd7ed558ccdu;
  h = (h ^ (h >> 29)) * 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 32);
}

#endif
