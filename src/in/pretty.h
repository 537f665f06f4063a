/* What the files of the pretty form share: pieces of StableHLO's assembly formats. */
#ifndef WEIR_IN_PRETTY_H
#define WEIR_IN_PRETTY_H
#include "in/parser.h"
#include "ir/attrs.h"

/* `: type` (of all operands and the result), or a signature. */
void in_same_type(in_parser *p, in_op *op);
/* (%a, %b) */
void in_bracketed_operands(in_parser *p, in_op *op);
/* `type, type`, one of each operand; are_results: and of a result. what: how errors call them. */
void in_operand_types(in_parser *p, in_op *op, const char *what, bool are_results);
/* "text", not an attribute: a ':' behind it is the op's. */
ir_attr in_quoted(in_parser *p, const char *what);
/* `key =` */
void in_key(in_parser *p, const char *key);
bool in_accept_key(in_parser *p, const char *key); /* false: another token */
/* `[1, 2]` pushed on `out`. */
typedef VEC(int64_t) in_int_list;
void in_ints(in_parser *p, in_int_list *out);
ir_attr in_i64s(in_parser *p);
/* HIGHEST -> #stablehlo<precision HIGHEST> */
ir_attr in_enum(in_parser *p, const char *name);
/* What the token opens, as text between these. */
ir_attr in_prefixed(in_parser *p, const char *prefix, const char *suffix);
ir_attr in_array_attr(in_parser *p, const ir_attr *items, uint32_t count);

/* Of ops that the op table does not have. */
void in_asm_global(in_parser *p, in_op *op);
void in_asm_global_load(in_parser *p, in_op *op);
void in_asm_global_store(in_parser *p, in_op *op);

#endif
