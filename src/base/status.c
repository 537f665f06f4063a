/* Names of the status codes, and sizes in bytes as people write them. */
#include <errno.h>
#include <string.h>

#include "weir/weir.h"

const char *weir_status_name(weir_status status) {
  switch (status) {
    case WEIR_OK: return "OK";
    case WEIR_INVALID_ARGUMENT: return "INVALID_ARGUMENT";
    case WEIR_NOT_FOUND: return "NOT_FOUND";
    case WEIR_RESOURCE_EXHAUSTED: return "RESOURCE_EXHAUSTED";
    case WEIR_UNIMPLEMENTED: return "UNIMPLEMENTED";
    case WEIR_INTERNAL: return "INTERNAL";
  }
  return "UNKNOWN";
}

const char *weir_version(void) { return WEIR_VERSION; }

/* Bits (Gb) and a small m, g, t alone, which are 1000, 1024 and a thousandth elsewhere, are not
 * here. */
static const struct {
  const char *names; /* of the unit, each followed by a space */
  int64_t bytes;
} units[] = {
    {"B ", 1},
    {"k K kB KB kb ", 1000},
    {"M MB mb ", 1000000},
    {"G GB gb ", 1000000000},
    {"T TB tb ", 1000000000000},
    {"Ki ki KiB kiB kib ", (int64_t)1 << 10},
    {"Mi mi MiB mib ", (int64_t)1 << 20},
    {"Gi gi GiB gib ", (int64_t)1 << 30},
    {"Ti ti TiB tib ", (int64_t)1 << 40},
};

static bool has_name(const char *names, const char *s) {
  size_t n = strlen(s);
  for (size_t at = 0, length; names[at]; at += length + 1) {
    length = strcspn(names + at, " ");
    if (length == n && !memcmp(names + at, s, n)) return true;
  }
  return false;
}

static bool find_unit(const char *s, int64_t *out_factor) {
  if (!*s) return *out_factor = 1, true;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (has_name(units[i].names, s)) return *out_factor = units[i].bytes, true;
  return false;
}

/* Digits with an optional fraction, read exactly: the fraction is scaled in integers, so 0.1GB is
 * 100000000. */
weir_status weir_parse_bytes(const char *text, int64_t *out_bytes) {
  if (!text) return WEIR_INVALID_ARGUMENT;
  const char *s = text;
  int64_t whole = 0, fraction = 0, scale = 1, factor, bytes;
  if (*s < '0' || *s > '9') return WEIR_INVALID_ARGUMENT;
  for (; *s >= '0' && *s <= '9'; s++)
    if (__builtin_mul_overflow(whole, 10, &whole) ||
        __builtin_add_overflow(whole, *s - '0', &whole))
      return WEIR_INVALID_ARGUMENT;
  if (*s == '.') {
    if (s[1] < '0' || s[1] > '9') return WEIR_INVALID_ARGUMENT;
    for (s++; *s >= '0' && *s <= '9'; s++)
      if (scale < 1000000) fraction = fraction * 10 + (*s - '0'), scale *= 10;
  }
  while (*s == ' ') s++;
  if (!find_unit(s, &factor) || (scale > 1 && factor == 1)) return WEIR_INVALID_ARGUMENT;
  if (__builtin_mul_overflow(whole, factor, &bytes)) return WEIR_INVALID_ARGUMENT;
  int64_t part = (int64_t)((__int128)fraction * factor / scale);
  if (__builtin_add_overflow(bytes, part, &bytes) || bytes <= 0) return WEIR_INVALID_ARGUMENT;
  *out_bytes = bytes;
  return WEIR_OK;
}
