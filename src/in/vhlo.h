/* VHLO, StableHLO's form for files: which attributes a version of an op has, and what they are in
 * StableHLO. */
#ifndef WEIR_IN_VHLO_H
#define WEIR_IN_VHLO_H
#include "ir/ir.h"

enum { VHLO_MAX_ATTRIBUTES = 20 };

typedef struct vhlo_row vhlo_row;
typedef struct vhlo_op {
  uint32_t count;
  const vhlo_row *rows[VHLO_MAX_ATTRIBUTES]; /* in the order of vhlo.def */
  const char *names[VHLO_MAX_ATTRIBUTES];    /* by name, as MLIR writes properties */
} vhlo_op;

/* An op of no rows has no attributes of its own. */
vhlo_op vhlo_op_find(const char *stem, size_t length, int version);

/* StableHLO's attributes for VHLO's. Returns how many were put in `out`, which has room for count +
 * 2; out_error: what is wrong, else NULL. Attributes that are not the op's own stay as they are. */
uint32_t vhlo_convert(ir_module *m, arena *scratch, const vhlo_op *op, const ir_named_attr *given,
                      uint32_t count, ir_named_attr *out, const char **out_error);

#endif
