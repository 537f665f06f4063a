/* What a computer can do, as far as plans, predictions and kernels depend on it: a value.
 *
 * It is the computer at hand (machine_host, with what was measured of it: machine_here), or one
 * that a setting names (machine_parse). The same name makes the same plan and the same kernels on
 * every computer. Nothing else in src asks the processor or the system. docs/design/machine.md.
 */
#ifndef WEIR_MACHINE_MACHINE_H
#define WEIR_MACHINE_MACHINE_H
#include <stddef.h>

#include "base/arena.h"
#include "machine/device.h"

/* Instruction sets; each of a family has all that those before it in the family have. */
typedef enum machine_level {
  MACHINE_X86_64,
  MACHINE_X86_64_V2,
  MACHINE_X86_64_V3,
  MACHINE_X86_64_V4,
  MACHINE_AARCH64,
  MACHINE_LEVELS /* how many */
} machine_level;

/* How fast it is. Each is positive, or 0: not measured, and taken from the reference (cpu.c). */
#define MACHINE_RATES(R)                                                                           \
  R(clock)    /* of one core, in GHz */                                                            \
  R(vectors)  /* multiply-adds of whole vectors of one core, in G a second */                      \
  R(products) /* products of f32 matrices by XLA on all cores, in Gflop/s */                       \
  R(fused)    /* exponentials in a fusion of XLA's, all cores, in G a second */                    \
  R(memory)   /* what a fusion of XLA's reads from memory, all cores, in GB/s */

typedef struct machine_measured {
#define RATE(name) double name;
  MACHINE_RATES(RATE)
#undef RATE
} machine_measured;

typedef struct machine {
  const device *device; /* a GPU or TPU; then nothing below counts. NULL: a CPU */
  machine_level level;
  int32_t cores;    /* that a program may use */
  int64_t l1_bytes; /* of data, of a core */
  int64_t l2_bytes; /* of a core */
  int64_t l3_bytes; /* of all these cores together */
  machine_measured rates;
} machine;

/* The computer at hand: its processor, and the cores that this process may run on. Nothing of it
 * is measured. */
machine machine_host(void);
/* GHz, by a chain of additions, each of which takes a cycle, in CPU time: half a ms, and right on
 * a busy computer. 0: the system has no such clock. */
double machine_host_clock(void);
/* Multiply-adds of whole vectors, of its level's width, of one core, in G a second; where there are
 * none, multiplications and additions. Otherwise as machine_host_clock. */
double machine_host_vectors(void);
/* Of n times of the same work, which it sorts: one that nothing came between, and no glitch of the
 * clock, which may call a time shorter than it was: a quarter are less. 0: n is. */
int64_t machine_typical_ns(int64_t *times, int32_t n);
/* machine_host with what was measured and kept (machine_keep), if anything was. */
machine machine_here(arena *a);
/* Measures clock and vectors, which takes a few ms, and keeps them with XLA's rates, of which the
 * caller measured what it could, for all processes of this user. UNIMPLEMENTED: nothing can be
 * kept. INVALID_ARGUMENT: a rate that can't be. */
WEIR_MUST_USE weir_status machine_keep(arena *a, const machine_measured *by_xla);
/* `text`: "host" or a level, then overrides: "x86-64-v3,cores=8,l2=512KiB,clock=3.2". What is left
 * open of a level is typical of it (machine_of_level), never the host's. NULL, "": machine_here().
 * Or a device: "h100".
 * INVALID_ARGUMENT: neither; the message names what is accepted. */
WEIR_MUST_USE weir_status machine_parse(ctx *c, const char *text, machine *out_machine);
/* A device says which platform a program is for: *in_out_platform NULL becomes its name. A platform
 * other than CPUs that comes with a CPU is taken to be a typical device of it. INVALID_ARGUMENT:
 * the device is of another platform. */
WEIR_MUST_USE weir_status machine_settle(ctx *c, machine *m, const char **in_out_platform);
/* A text that machine_parse() reads as this machine, without blanks. */
const char *machine_text(arena *a, const machine *m);
enum { MACHINE_TEXT_ROOM = 224 }; /* for any such text */
/* That text, and a table for people. */
const char *machine_describe(arena *a, const machine *m);

machine machine_of_level(machine_level level);
const char *machine_level_name(machine_level level);
/* Whether code made for level `code` runs on `here`. */
bool machine_runs(machine_level here, machine_level code);

/* How its XLA takes memory; NULL: as on CPUs. */
static inline const device_memory *machine_memory(const machine *m) {
  return m->device ? m->device->memory : NULL;
}

/* ---- what follows from the level ---- */
int32_t machine_vector_bytes(const machine *m);
int32_t machine_vector_registers(const machine *m);
enum { MACHINE_PART_BYTES = 16 }; /* of a vector, that most shuffles stay in, whatever its width */
/* Multiplies and adds in one instruction, rounding once. */
bool machine_has_fma(const machine *m);
/* Converts vectors between f16 and f32. */
bool machine_has_halves(const machine *m);
/* Masks a lane of a load, a store or an operation for nothing; estimates of roots and reciprocals
 * to 14 bits: AVX-512. */
bool machine_has_masks(const machine *m);

#endif
