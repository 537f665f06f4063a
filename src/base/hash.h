/* FNV-1a, of 32 bits for tables in memory and of 64 for names that outlive the process. */
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

#endif
