/* Types as MLIR prints them; shared by the printer and by messages. */
#ifndef WEIR_IR_PRINT_H
#define WEIR_IR_PRINT_H
#include "base/strbuf.h"
#include "ir/ir.h"

void ir_print_type(const ir_module *m, ir_type type, strbuf *out);
const char *ir_type_text(arena *a, const ir_module *m, ir_type type);
void ir_print_quoted(const char *s, size_t length, strbuf *out);

#endif
