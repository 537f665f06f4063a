/* Types as MLIR prints them; shared by the printer and by messages. */
#ifndef WEIR_IR_PRINT_H
#define WEIR_IR_PRINT_H
#include "base/strbuf.h"
#include "ir/ir.h"

void ir_print_type(const ir_module *m, ir_type type, strbuf *out);
/* `a, b` */
void ir_print_types(const ir_module *m, const ir_type *types, uint32_t count, strbuf *out);
/* `-> a`, `-> (a, b)` without the arrow: parentheses unless it is one type that is no function. */
void ir_print_result_types(const ir_module *m, const ir_type *types, uint32_t count, strbuf *out);

#endif
