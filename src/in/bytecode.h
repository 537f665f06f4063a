/* MLIR bytecode: the state of its reader and what its files offer to each other.
 *
 * An error leaves the reader through bc_fail() (ctx_fail's way out, caught by in_bytecode()), so
 * nothing here returns a status. A count in the file never decides an allocation before it is
 * known that as many bytes are left.
 *
 * Sources: MLIR's BytecodeFormat.md and BuiltinDialectBytecode.td, StableHLO's VhloBytecode.cpp;
 * docs/design/bytecode.md.
 */
#ifndef WEIR_IN_BYTECODE_H
#define WEIR_IN_BYTECODE_H
#include "in/vhlo.h"
#include "ir/ir.h"

enum { BC_MAX_DEPTH = 256 };

typedef enum bc_dialect { BC_OTHER, BC_BUILTIN, BC_VHLO } bc_dialect;

/* An attribute or a type of the file, decoded when it is first used. */
typedef struct bc_entry {
  const uint8_t *at, *end;
  bc_dialect dialect;
  bool is_custom; /* in its dialect's code, else text */
  enum { BC_UNREAD, BC_READING, BC_READ } state;
  bool is_location;
  int64_t weight;  /* characters that it takes in text, about; parts counted as often as they stand
                      in it */
  ir_attr attr;    /* an attribute that is no location */
  ir_type type;    /* a type */
  ir_str location; /* IR_NONE: unknown */
} bc_entry;

typedef struct bc_op_name {
  const char *name; /* "stablehlo.add" */
  ir_kind kind;
  bool is_return; /* func.return or stablehlo.return, as the region's op wants */
  bool was_registered;
  vhlo_op vhlo; /* its attributes, if it is VHLO's */
  bool is_vhlo;
} bc_op_name;

typedef struct bc {
  ctx *ctx;
  ir_module *m;
  arena *scratch;
  const uint8_t *begin, *end;
  uint64_t version;
  VEC(ir_str) strings;
  VEC(ir_str) dialects;
  VEC(bc_op_name) ops;
  VEC(bc_entry) attrs;
  VEC(bc_entry) types;
  const uint8_t *properties, *properties_end; /* their table, and the places of its items */
  VEC(uint64_t) property_offsets;
  VEC(ir_value) values; /* of the scope in hand; IR_NONE: not yet defined */
  int depth;
  int64_t weight_left;         /* what the attributes of all ops together may weigh yet */
  int64_t location_bytes_left; /* the same of locations, made or used; then they
                                  become unknown */
} bc;

/* A part of the file. */
typedef struct bc_bytes {
  bc *r;
  const uint8_t *at, *end;
} bc_bytes;

/* ---- bytecode.c ---- */
/* INVALID_ARGUMENT "byte N: ...". */
_Noreturn void bc_fail(const bc_bytes *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void bc_fail_status(const bc_bytes *b, weir_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t bc_varint(bc_bytes *b);
int64_t bc_signed_varint(bc_bytes *b);
uint8_t bc_byte(bc_bytes *b);
const uint8_t *bc_take(bc_bytes *b, uint64_t count); /* so many bytes */
static inline size_t bc_left(const bc_bytes *b) { return (size_t)(b->end - b->at); }
/* A number of things of which each takes a byte at least. */
uint32_t bc_count(bc_bytes *b, const char *what);
uint32_t bc_index(bc_bytes *b, uint32_t count, const char *what); /* below count */
ir_str bc_string(bc_bytes *b);
/* A section: its id, and what is in it. */
bc_bytes bc_section(bc_bytes *b, uint8_t *out_id);
void bc_enter(const bc_bytes *b); /* one level deeper; fails at BC_MAX_DEPTH */

/* ---- bytecode_entry.c: the attribute or type of an index that stands in b ---- */
bc_entry *bc_read_attr(bc_bytes *b);
bc_entry *bc_attr_entry(const bc_bytes *b, uint32_t index);
ir_attr bc_attr(bc_bytes *b, bc_entry *parent); /* adds its weight to the parent's */
ir_type bc_type(bc_bytes *b, bc_entry *parent);
bc_entry *bc_type_entry(bc_bytes *b, uint64_t index);
ir_str bc_location(bc_bytes *b);
/* Numbers with the width of a type known, as MLIR's readAPInt; a float's are its bits. */
ir_attr bc_integer_attr(bc_bytes *b, ir_type type);
ir_attr bc_float_attr(bc_bytes *b, ir_type type);
ir_attr bc_array(bc_bytes *b, bc_entry *e);
ir_attr bc_dictionary(bc_bytes *b, bc_entry *e);
ir_attr bc_dense(bc_bytes *b, bc_entry *e, ir_type type);
ir_type bc_types(bc_bytes *b, bc_entry *e, ir_type_kind kind); /* a tuple's or a function's */
ir_type bc_tensor(bc_bytes *b, bc_entry *e, bool has_encoding);
const int64_t *bc_ints(bc_bytes *b, int32_t *out_count); /* signed varints, counted */
ir_type bc_complex(bc_bytes *b, ir_type part);
ir_type bc_other_type(bc *r, const char *text);

/* ---- bytecode_vhlo.c ---- */
void bc_vhlo_attr(bc_bytes *b, bc_entry *e);
void bc_vhlo_type(bc_bytes *b, bc_entry *e);

/* ---- bytecode_ir.c ---- */
void bc_ir(bc_bytes *b, ir_block block);

#endif
