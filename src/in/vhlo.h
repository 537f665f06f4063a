/* VHLO's attributes as StableHLO's. */
#ifndef WEIR_IN_VHLO_H
#define WEIR_IN_VHLO_H
#include "ir/vhlo.h"

/* StableHLO's attributes for VHLO's. Returns how many were put in `out`, which has room for count +
 * 2; out_error: what is wrong, else NULL. Attributes that are not the op's own stay as they are. */
uint32_t vhlo_convert(ir_module *m, arena *scratch, const vhlo_op *op, const ir_named_attr *given,
                      uint32_t count, ir_named_attr *out, const char **out_error);

#endif
