/* GPUs and TPUs: what plans and predictions need of a card, and what its XLA needs to compile for
 * one that is not here. One row a card: cuda.c, tpu.c. docs/design/devices.md. */
#ifndef WEIR_MACHINE_DEVICE_H
#define WEIR_MACHINE_DEVICE_H
#include <stdbool.h>
#include <stdint.h>

/* How a card's XLA takes memory, as far as it differs from a CPU's: bounds and estimates ask here.
 * 0, false: as on a CPU. */
typedef struct device_memory {
  /* Arrays are padded to tiles of the two dimensions that are innermost in memory, which XLA
   * chooses; rows of elements of less than 4 bytes are packed. 0: arrays are dense. */
  int32_t tile_rows, tile_lanes;
  int32_t vector_lanes; /* to which arrays of one dimension are padded */
  /* Operands of any op may stand in memory once more: laid out anew, converted. */
  bool lays_out_anew;
  int64_t align_bytes;   /* of a buffer's address */
  int64_t library_bytes; /* in which a library's call works, beside its operands and results */
  /* Products of f32 matrices are no library's if a row and a column of the result, and what each
   * sums, are fewer elements; with a vector, if they are fewer multiplications. */
  int64_t least_library_elements, least_library_products;
  int32_t cores;
  /* Products are made in parts, where that keeps more cores busy (plan/peak_terms.c). What XLA
   * counts, in its unit: of a byte that a product moves (0: none is made so), of adding parts, and
   * of a byte of these. */
  double product_byte_cost, sum_cost, sum_byte_cost;
  int64_t cache_bytes; /* what is no larger is read a second time from there */
  int64_t loop_bytes;  /* that XLA keeps for a loop that it makes of an op */
  /* Temporaries in memory lie so far apart, and what is between them counts twice
   * (plan/peak_small.c). */
  int64_t spacing_bytes;
  /* Libraries choose on the card how, and with how much memory, they do what is no product. */
  bool library_decides;
  bool keeps_invariants; /* in loops: what no trip changes is computed in each */
  bool channels_last;    /* convolutions of f32 take images so */
  /* Sums take in what they sum, whatever its size, and what is computed element by element is
   * computed again by each reader rather than kept. */
  bool fuses_sums;
  bool fuses_products; /* they take in what makes their operands, and are taken in by readers */
  /* Fusions over one array become one of several results, which come in a tuple. */
  bool joins_results;
  bool fuses_siblings; /* what is computed element by element from one array is made in one pass */
  /* What several products would compute, from an exponential or the like, is made once, as they
   * read it: in 16 bits. */
  bool keeps_for_products;
  /* What products alone read in a loop, and no trip changes, is made in 16 bits before it; what
   * windows are read of or written to is laid out anew (plan/peak_invariant.c). */
  bool copies_for_loops;
  int64_t near_copy_bytes; /* such copies that are no larger count for nothing */
  bool narrow_floats;      /* products read 16-bit floats as they are */
  bool has_groups;         /* rows in groups are multiplied as they are, not under masks */
  /* On the chip: temporaries that fit into it, all that live at once, are not in memory. */
  int64_t near_bytes;
} device_memory;

enum {
  DEVICE_WARP = 32,         /* threads of a GPU that go together */
  DEVICE_POINTER_BYTES = 8, /* in a table of a tuple's members */
};

/* What all cards of a platform have in common. */
typedef struct device_platform {
  const char *name; /* as XLA says: "cuda" */
  /* Of one op, and of a trip of a loop besides its ops. Not measured: of the order that the
   * vendors' own guides give. */
  double op_ns, trip_ns;
  /* Another way in which XLA may compile there than as told: the choice is made on the card, by
   * timing. A program holds its limit where it does so both ways. NULL: there is none. */
  const char *otherwise;
} device_platform;

/* In bytes, and G a second, that is, per ns. */
typedef struct device {
  const char *name; /* "h100" */
  const device_platform *platform;
  const device_memory *memory;
  const char *kind;     /* as JAX calls it: device_kind */
  const char *source;   /* of the numbers */
  const char *target;   /* for XLA: cuda: the text of a GpuTargetConfigProto; tpu: a topology */
  int64_t memory_bytes; /* that XLA sees */
  int64_t cache_bytes;  /* shared by all cores */
  double bytes;         /* of memory, read or written */
  double ops;           /* elementwise, f32 */
  double products_f32;  /* as jnp.dot does them by default */
  double products_f64;
} device;

extern const device_platform device_cuda, device_rocm, device_tpu;
/* The first is taken where a platform alone is named. */
extern const device device_cuda_cards[], device_rocm_cards[], device_tpu_chips[];

/* All of them, of one platform after the other. NULL: out of range. */
const device *device_at(int32_t index);
const device *device_find(const char *name);
/* A device by which to plan for a platform of which nothing else is known; NULL: for a CPU, or a
 * platform that is not known. */
const device *device_typical(const char *platform);

/* Rows of a tile: more of them where elements are packed. */
int64_t device_tile_rows(const device_memory *m, int64_t element_bytes);

/* Which dimensions are innermost in memory: in rows of tiles, and around these. */
typedef struct device_layout {
  int32_t minor, second;
} device_layout;

/* The layout that takes least, of equal ones that of the last dimensions. Of two dimensions at
 * least, where arrays are tiled. */
device_layout device_least_layout(const device_memory *m, int64_t element_bytes, int32_t rank,
                                  const int64_t *dims);
int64_t device_laid_out_bytes(const device_memory *m, int64_t element_bytes, int32_t rank,
                              const int64_t *dims, device_layout layout);

/* Bytes of an array of elements of element_bytes there: in the layout that takes most, and in the
 * one that takes least, which XLA prefers. Extents below 0, which only the running program knows,
 * count as 1. Saturates at INT64_MAX. */
int64_t device_most_bytes(const device_memory *m, int64_t element_bytes, int32_t rank,
                          const int64_t *dims);
int64_t device_least_bytes(const device_memory *m, int64_t element_bytes, int32_t rank,
                           const int64_t *dims);
/* The same row by row, the last dimension innermost. */
int64_t device_row_bytes(const device_memory *m, int64_t element_bytes, int32_t rank,
                         const int64_t *dims);

#endif
