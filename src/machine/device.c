/* Cards by number and by name. */
#include "machine/device.h"

#include <stddef.h>
#include <string.h>

static const device *const tables[] = {device_cuda_cards, device_tpu_chips, device_rocm_cards};
enum { TABLES = sizeof tables / sizeof *tables };

const device *device_at(int32_t index) {
  if (index < 0) return NULL;
  for (int t = 0; t < TABLES; t++)
    for (const device *d = tables[t]; d->name; d++)
      if (index-- == 0) return d;
  return NULL;
}

const device *device_find(const char *name) {
  const device *d;
  for (int32_t i = 0; (d = device_at(i)); i++)
    if (!strcmp(d->name, name)) return d;
  return NULL;
}

const device *device_typical(const char *platform) {
  for (int t = 0; t < TABLES; t++)
    if (!strcmp(tables[t]->platform->name, platform)) return tables[t];
  return NULL;
}
