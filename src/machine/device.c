/* Cards by number and by name. */
#include "machine/device.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/saturate.h"

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

/* ---- arrays ---- */
enum { MOST_ELEMENT_BYTES = 4 }; /* where arrays are tiled */

static int64_t up_to(int64_t n, int64_t multiple) {
  assert(n >= 0 && multiple > 0);
  int64_t blocks = n / multiple + (n % multiple != 0);
  return saturated_product(blocks, multiple);
}

static int64_t known(int64_t extent) { return extent < 0 ? 1 : extent; }

int64_t device_tile_rows(const device_memory *m, int64_t element_bytes) {
  bool is_packed = element_bytes > 0 && element_bytes < MOST_ELEMENT_BYTES;
  return is_packed ? m->tile_rows * MOST_ELEMENT_BYTES / element_bytes : m->tile_rows;
}

/* Of few rows a tile has no more than a power of two that holds them. */
static int64_t rows_for(int64_t rows, int64_t extent) {
  while (rows > 1 && rows / 2 >= extent) rows /= 2;
  return rows;
}

/* Elements, with dimension `minor` innermost and `second` around it. */
static int64_t tiled_elements(const device_memory *m, int64_t rows, int32_t rank,
                              const int64_t *dims, int32_t minor, int32_t second) {
  int64_t n =
      saturated_product(up_to(known(dims[minor]), m->tile_lanes), up_to(known(dims[second]), rows));
  for (int32_t d = 0; d < rank; d++)
    if (d != minor && d != second) n = saturated_product(n, known(dims[d]));
  return n;
}

static int64_t dense_elements(int32_t rank, const int64_t *dims) {
  int64_t n = 1;
  for (int32_t d = 0; d < rank; d++) n = saturated_product(n, known(dims[d]));
  return n;
}

int64_t device_most_bytes(const device_memory *m, int64_t element_bytes, int32_t rank,
                          const int64_t *dims) {
  int64_t most = dense_elements(rank, dims), rows = device_tile_rows(m, element_bytes);
  if (m->tile_lanes && rank < 2) most = up_to(most, m->vector_lanes * (rows / m->tile_rows));
  for (int32_t minor = 0; m->tile_lanes && rank > 1 && minor < rank; minor++)
    for (int32_t second = 0; second < rank; second++) {
      int64_t n = minor != second ? tiled_elements(m, rows, rank, dims, minor, second) : 0;
      if (n > most) most = n;
    }
  return up_to(saturated_product(most, element_bytes), m->align_bytes);
}

device_layout device_least_layout(const device_memory *m, int64_t element_bytes, int32_t rank,
                                  const int64_t *dims) {
  int64_t rows = device_tile_rows(m, element_bytes), least = INT64_MAX;
  device_layout found = {rank - 1, rank - 2};
  assert(m->tile_lanes && rank > 1);
  for (int32_t minor = rank; minor-- > 0;)
    for (int32_t second = rank; second-- > 0;) {
      if (minor == second) continue;
      int64_t few = rows_for(rows, known(dims[second])),
              n = tiled_elements(m, few, rank, dims, minor, second);
      if (n < least) found = (device_layout){minor, second};
      if (n < least) least = n;
    }
  return found;
}

int64_t device_laid_out_bytes(const device_memory *m, int64_t element_bytes, int32_t rank,
                              const int64_t *dims, device_layout layout) {
  int64_t rows = rows_for(device_tile_rows(m, element_bytes), known(dims[layout.second])),
          elements = tiled_elements(m, rows, rank, dims, layout.minor, layout.second);
  assert(m->tile_lanes && rank > 1 && elements >= dense_elements(rank, dims));
  return up_to(saturated_product(elements, element_bytes), m->align_bytes);
}

/* Elements of 8 bytes and more are several arrays of 4: halves, real and imaginary parts. Tiles of
 * short vectors are the power of two that holds them. */
static int64_t vector_bytes(const device_memory *m, int64_t element_bytes, int64_t elements) {
  int64_t parts = element_bytes > MOST_ELEMENT_BYTES ? element_bytes / MOST_ELEMENT_BYTES : 1,
          width = element_bytes / parts, tile = m->align_bytes / width;
  assert(element_bytes > 0);
  while (tile < elements && tile < m->vector_lanes) tile *= 2;
  return saturated_product(saturated_product(up_to(elements, tile), width), parts);
}

int64_t device_least_bytes(const device_memory *m, int64_t element_bytes, int32_t rank,
                           const int64_t *dims) {
  if (m->tile_lanes && rank > 1)
    return device_laid_out_bytes(m, element_bytes, rank, dims,
                                 device_least_layout(m, element_bytes, rank, dims));
  if (element_bytes < 1) return m->tile_lanes ? m->align_bytes : 0;
  return m->tile_lanes ? vector_bytes(m, element_bytes, dense_elements(rank, dims))
                       : saturated_product(dense_elements(rank, dims), element_bytes);
}

int64_t device_row_bytes(const device_memory *m, int64_t element_bytes, int32_t rank,
                         const int64_t *dims) {
  if (!m->tile_lanes || rank < 2) return device_least_bytes(m, element_bytes, rank, dims);
  return device_laid_out_bytes(m, element_bytes, rank, dims, (device_layout){rank - 1, rank - 2});
}
