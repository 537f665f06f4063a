/* MLIR bytecode: the state of its writer and what its files offer to each other.
 *
 * All that the file numbers (strings, dialects, op names, attributes, types, properties) is told
 * apart by its bytes: parts are put before what they stand in, and a thing that is there already
 * keeps its number. Errors leave through ctx_fail(), caught by out_bytecode().
 *
 * Ops of StableHLO and func become VHLO's, with VHLO's types and attributes. Ops of other dialects,
 * and the module, stay as they are: their types and attributes are builtin ones, written as text,
 * and casts stand where a value goes from one kind of op to the other. docs/design/bytecode.md.
 */
#ifndef WEIR_OUT_BYTECODE_H
#define WEIR_OUT_BYTECODE_H
#include "base/strbuf.h"
#include "ir/attrs.h"
#include "ir/vhlo.h"

typedef enum bw_list {
  BW_STRINGS,
  BW_DIALECTS,   /* items: their names */
  BW_PROPERTIES, /* items: numbers of attributes */
  BW_OPS,        /* this and the next: items of a dialect */
  BW_ATTRS,
  BW_TYPES,
  BW_LISTS
} bw_list;

typedef struct bw {
  ctx *ctx;
  const ir_module *m;
  arena *scratch;
  int minor;                   /* of the target, StableHLO 1.minor */
  ir_module *keys;             /* whose strings are the items of all lists */
  VEC(uint32_t) numbers;       /* by string of keys: the item's number + 1; 0: not yet an item */
  VEC(ir_str) lists[BW_LISTS]; /* strings of keys */
  uint32_t *types[2];          /* by ir_type, builtin and VHLO's: number + 1 */
  uint32_t *attrs, *locations; /* by ir_attr, VHLO's; by ir_str: number + 1 */
  uint32_t *values;            /* by ir_value: number in its scope */
  ir_op op;                    /* in hand, for messages */
} bw;

/* UNIMPLEMENTED, with the op in hand. */
_Noreturn void bw_fail(const bw *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- bytecode.c: numbers and lists ---- */
void bw_varint(strbuf *out, uint64_t value);
void bw_signed_varint(strbuf *out, int64_t value);
/* The item's number. */
uint32_t bw_put(bw *w, bw_list list, const char *bytes, size_t length);
/* An op's name, or an attribute or type. flag: the op is written as a registered one; the bytes are
 * in the dialect's code, else text with a zero byte. */
uint32_t bw_put_of(bw *w, bw_list list, const char *dialect, bool flag, const char *bytes,
                   size_t length);
static inline uint32_t bw_string(bw *w, const char *text, size_t length) {
  return bw_put(w, BW_STRINGS, text, length);
}

/* ---- bytecode_entry.c: attributes and types; all return their numbers ---- */
uint32_t bw_type(bw *w, ir_type type, bool vhlo);
uint32_t bw_attr(bw *w, ir_attr attr); /* VHLO's form of it */
uint32_t bw_int(bw *w, int64_t value); /* an i64 */
uint32_t bw_bool(bw *w, bool value);
uint32_t bw_text(bw *w, const char *text, size_t length); /* a string */
uint32_t bw_ints(bw *w, ir_ints ints);                    /* a constant of one dimension */
uint32_t bw_repeated(bw *w, ir_dtype dtype, int64_t value, int32_t rank, const int64_t *dims);
uint32_t bw_items(bw *w, const uint32_t *items, uint32_t count);
uint32_t bw_no_entries(bw *w);
uint32_t bw_api_version(bw *w, int64_t value);
uint32_t bw_type_attr(bw *w, const char *name, size_t length); /* of a scalar type */
uint32_t bw_other(bw *w, const char *text);                    /* StableHLO's text of it */
/* In the text of its dialect, which "#sdy.sharding<...>" says. */
uint32_t bw_text_entry(bw *w, bw_list list, const char *text);
uint32_t bw_builtin_string(bw *w, const char *text, size_t length);
/* Builtin: all attributes of the op as text. MLIR takes those that are properties out again. */
uint32_t bw_dict_text(bw *w, ir_op op);
/* Builtin: these of VHLO's attributes, by name. */
uint32_t bw_dict(bw *w, const ir_named_attr *entries, const uint32_t *values, uint32_t count);

/* ---- bytecode_location.c ---- */
uint32_t bw_location(bw *w, ir_str text); /* IR_NONE: unknown */

/* ---- bytecode_vhlo.c ---- */
/* "dot_general"; NULL: the op is no VHLO op. */
const char *bw_vhlo_stem(const ir_module *m, ir_op op);
/* The op's name, its properties and its other attributes; -1: it has none. */
typedef struct bw_head {
  uint32_t name;
  int64_t properties, attrs;
} bw_head;
bw_head bw_vhlo_head(bw *w, ir_op op, const char *stem);

/* ---- bytecode_ir.c ---- */
void bw_ir(bw *w, strbuf *out);

#endif
