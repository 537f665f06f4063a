/* Passes: module -> module, in place. One file each, headed by what the pass requires, what it
 * breaks, its identity and its source.
 *
 * pipeline/ strings passes together: it hands the call's pass_driver one pass after the other. The
 * driver skips what the options switch off, verifies the module after every pass (a violation is
 * our bug: INTERNAL, naming the pass), dumps, times and logs.
 */
#ifndef WEIR_PASS_PASS_H
#define WEIR_PASS_PASS_H
#include "ir/ir.h"
#include "machine/machine.h"

typedef struct pass_ctx {
  ctx *c;
  arena *scratch;              /* until the pass returns */
  const weir_options *options; /* never NULL */
  void *user;                  /* the driver's */
  const machine *machine;      /* likewise; that the program is for */
  bool changed;                /* set by the pass: the module did */
  bool is_for_speed;           /* the program holds its limit as it came */
} pass_ctx;

typedef struct pass_compared pass_compared; /* compared.h */

/* What a pass that looks at one op at a time is called with. */
typedef struct pass_rewrite {
  pass_ctx *p;
  ir_module *m;
  ir_map *map;          /* what stands for the results of ops that are gone */
  const uint32_t *uses; /* by value, of those that came */
  uint32_t n_values;
  int64_t small_bytes;           /* pass_small_bytes() */
  void *own;                     /* the pass's: what its `begin` has put here */
  const pass_compared *compared; /* once pass_find_compared() was called */
  ir_builder b;                  /* in the place of the op that is looked at */
} pass_rewrite;

typedef struct pass {
  const char *name; /* as in --pass, --skip, --dump-after, --stop-after */
  weir_status (*run)(pass_ctx *p, ir_module *m);
  /* Instead of `run`: called for every op of the module, in order, regions before their op, whose
   * operands are renamed by the map already. It either makes what stands for the op (appended to
   * the block, its results in the map) and returns true, or the op stays. */
  bool (*replace)(pass_rewrite *r, ir_op op);
  /* What `replace` has to know of the module before the first op goes; NULL: nothing. False: there
   * is nothing to replace. */
  bool (*begin)(pass_rewrite *r);
} pass;

/* ---- the list: passes.def ---- */
typedef enum pass_phase { PASS_CANONICAL, PASS_ALGEBRA, PASS_READS, PASS_LOOPS } pass_phase;
typedef enum pass_use {
  PASS_ALWAYS,
  PASS_SPLIT,
  PASS_SPEED,
  PASS_WORTH,
  PASS_NEEDED,
  PASS_RIVAL
} pass_use;

typedef struct pass_row {
  const pass *pass; /* NULL: a setting, which --skip alone may name */
  const char *name;
  pass_phase phase;
  bool is_exact; /* to the bit */
  pass_use use;
} pass_row;

typedef struct pass_driver {
  ctx *c;
  const weir_options *options;
  const pass_row *table;  /* what the options may name; ends with a row without a name */
  void *user;             /* handed to the passes */
  const machine *machine; /* likewise; NULL where only passes run that do not ask */
  void (*dump)(void *dump_user, const ir_module *m, const char *after); /* NULL: no dumps */
  void *dump_user;
  bool is_for_speed; /* what passes are told: pass_ctx */
  bool stopped;      /* the pass of stop_after was reached: all further ones are skipped */
} pass_driver;

/* INVALID_ARGUMENT if only_passes, skip_passes, dump_after or stop_after name a pass that is not in
 * the table. */
WEIR_MUST_USE weir_status pass_check_options(const pass_driver *d);
/* Whether the options let this pass of the table run, or do not switch this setting off. */
bool pass_is_on(const pass_driver *d, const char *name);
/* Runs one pass, or does not. *out_changed (may be NULL) is whether the module changed. */
WEIR_MUST_USE weir_status pass_run(pass_driver *d, const pass *p, ir_module *m, bool *out_changed);

/* ---- the passes: of this folder, and the loops' of src/pipeline/pipeline.c ---- */
#define PASS(id, ...) extern const pass pass_##id;
#include "pass/passes.def"

/* ---- what several passes need ---- */
/* All operands and results are tensors whose shapes are known. */
bool pass_is_static(const ir_module *m, ir_op op);
/* Whether Eigen's convolution would read beyond its input (jaxlib 0.10.2). Such programs are right
 * only as long as something else keeps them from it. */
bool pass_misreads_padding(ir_module *m, ir_op conv);
/* Attributes that are not the op's own (shardings) may be about its shape. */
bool pass_has_foreign_attrs(const ir_module *m, ir_op op);
/* The functions, by the string of their names: m->strs.count of them. */
ir_op *pass_functions(arena *a, const ir_module *m);
/* Two products are asked for with the same precision and algorithm. */
bool pass_same_accuracy(const ir_module *m, ir_op dot, ir_op other);
/* A new product is as accurate as `like`. */
void pass_set_accuracy(ir_module *m, ir_op dot, ir_op like);
/* A hash that agrees with ir_attr_equal. */
uint32_t pass_attr_hash(const ir_module *m, ir_attr a);
/* From now on `made` stands for the op's only result; IR_NONE: false, the op stays. */
bool pass_stand_in(const ir_module *m, ir_map *map, ir_op op, ir_value made);
/* Whether the op is a while that could be written as the ops of its trips. once.c */
bool pass_can_write_trips(const ir_module *m, ir_op op);
/* Appends so many copies of its body to the block; what stands for its results is in the map.
 * Cost: of the copies. */
void pass_write_trips(ir_module *m, ir_op loop, int64_t trips, ir_block to, ir_map *map);
/* Runs a pass that has `replace`. */
void pass_rewrite_ops(pass_ctx *p, ir_module *m, const pass *pass);

#endif
