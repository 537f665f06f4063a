/* VHLO, StableHLO's form for files (MLIR bytecode): which attributes a version of an op has, what
 * they are in StableHLO, and the codes of the file. The tables are vhlo.def, vhlo_codes.def and
 * builtin_codes.def; the reader (in/) and the writer (out/) share them. */
#ifndef WEIR_IR_VHLO_H
#define WEIR_IR_VHLO_H
#include "ir/ir.h"

/* ---- ops and their attributes: vhlo.def says what the words mean ---- */
typedef enum vhlo_rule {
  VHLO_KEEP,
  VHLO_INTS,
  VHLO_BOOLS,
  VHLO_SYMBOL,
  VHLO_SYMBOLS,
  VHLO_FLAG,
  VHLO_CHANNEL_ID,
  VHLO_API_VERSION,
  VHLO_DOT,
  VHLO_ALGORITHM,
  VHLO_GATHER,
  VHLO_SCATTER,
  VHLO_CHANNEL,
  VHLO_CONV,
  VHLO_RULES
} vhlo_rule;

typedef enum vhlo_preset {
  VHLO_NONE,
  VHLO_ZERO,
  VHLO_ONE,
  VHLO_MINUS_ONE,
  VHLO_FALSE,
  VHLO_ZERO_PAIRS,
  VHLO_ONES,
  VHLO_FALSES,
  VHLO_NO_TEXT,
  VHLO_NO_ITEMS,
  VHLO_NO_ENTRIES,
  VHLO_NO_INTS,
  VHLO_NO_CONFIG,
  VHLO_DEFAULTS,
  VHLO_NOTYPE,
  VHLO_ACCURACY
} vhlo_preset;

typedef struct vhlo_row {
  const char *op, *name;
  int first, last;
  vhlo_rule rule;
  vhlo_preset preset;
} vhlo_row;

enum { VHLO_MAX_ATTRIBUTES = 20 };
typedef struct vhlo_op {
  uint32_t count;
  const vhlo_row *rows[VHLO_MAX_ATTRIBUTES];    /* in the order of vhlo.def */
  const vhlo_row *by_name[VHLO_MAX_ATTRIBUTES]; /* as MLIR writes properties */
} vhlo_op;

/* An op of no rows has no attributes of its own. */
vhlo_op vhlo_op_find(const char *stem, size_t length, int version);
/* The row of the op behind this one, the first behind NULL; NULL: there is none. */
const vhlo_row *vhlo_next_row(const char *stem, const vhlo_row *row);
/* The op's version in StableHLO 1.minor; 0: it has none yet. */
int vhlo_op_version(const char *stem, int minor);

/* Attributes that VHLO has taken apart; name: NULL for rules that are of no such. `sparse` ones
 * leave out what is empty or 0. */
typedef struct vhlo_group {
  const char *name, *head;
  bool sparse;
} vhlo_group;
extern const vhlo_group vhlo_groups[VHLO_RULES];
/* What the row's attribute, or the one that it is a part of, is called in StableHLO. */
const char *vhlo_stablehlo_name(const vhlo_row *row);
/* What a part is called in that attribute's text. */
const char *vhlo_part_name(const vhlo_row *row);

/* ---- codes ---- */
enum {
#define ATTRIBUTE(name, code) VHLO_ATTR_##name = code,
#define TYPE(name, code) VHLO_TYPE_##name = code,
#include "ir/vhlo_codes.def"
};
enum {
#define ATTRIBUTE(name, code) BUILTIN_ATTR_##name = code,
#define TYPE(name, code) BUILTIN_TYPE_##name = code,
#include "ir/builtin_codes.def"
};

enum { VHLO_CODES = 48 };
typedef struct vhlo_enum {
  const char *text, *words; /* NULL: no enumeration has this code */
} vhlo_enum;
extern const vhlo_enum vhlo_enums[VHLO_CODES];
typedef struct vhlo_scalar {
  const char *name; /* NULL: no type has this code */
  int since;        /* StableHLO 1.since */
} vhlo_scalar;
extern const vhlo_scalar vhlo_scalars[VHLO_CODES];

/* ---- the file ---- */
/* The first version of the format with each feature. */
enum {
  BC_VERSIONED_DIALECTS = 1,
  BC_SECTIONS_OF_REGIONS = 2,
  BC_USE_LIST_ORDERS = 3,
  BC_ELIDED_LOCATIONS = 4, /* and the number of op names */
  BC_PROPERTIES = 5,
  BC_NEWEST = 6,
};

enum {
  BC_STRINGS,
  BC_DIALECTS,
  BC_ATTRS,
  BC_ATTR_OFFSETS,
  BC_IR,
  BC_RESOURCES,
  BC_RESOURCE_OFFSETS,
  BC_DIALECT_VERSIONS,
  BC_PROPERTY_TABLE,
  BC_SECTIONS
};

enum { /* what an op has */
       BC_HAS_ATTRS = 1,
       BC_HAS_RESULTS = 2,
       BC_HAS_OPERANDS = 4,
       BC_HAS_SUCCESSORS = 8,
       BC_HAS_REGIONS = 16,
       BC_HAS_USE_LIST_ORDERS = 32,
       BC_HAS_PROPERTIES = 64
};

#define BC_MAGIC "ML\xefR"
#define BC_PRODUCER "StableHLO_v" /* who makes portable artifacts; behind it the version */
/* How a value of VHLO's types becomes one of builtin types, and back, in files that mix dialects.
 */
#define BC_CAST "builtin.unrealized_conversion_cast"

#endif
