/* GPUs and TPUs: what plans and predictions need of a card, and what its XLA needs to compile for
 * one that is not here. One row a card: cuda.c, tpu.c. docs/design/devices.md. */
#ifndef WEIR_MACHINE_DEVICE_H
#define WEIR_MACHINE_DEVICE_H
#include <stdint.h>

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

#endif
