/* The parser's state and what its files offer to each other. Recursive descent over one token of
 * lookahead.
 *
 * An error in the text leaves the parser through in_fail() (ctx_fail's way out, caught by
 * in_stablehlo_text()), so nothing here returns a status. Every function that reads something
 * starts at p->token and leaves p->token behind what it read.
 *
 * Source: MLIR language reference (https://mlir.llvm.org/docs/LangRef), StableHLO's assembly
 * formats.
 */
#ifndef WEIR_IN_PARSER_H
#define WEIR_IN_PARSER_H
#include "base/strbuf.h"
#include "ir/ir.h"
#include "ir/vhlo.h"

/* Punctuation is its own character. */
typedef enum in_token_kind {
  IN_END = 256,
  IN_WORD,    /* tensor, stablehlo.add, x */
  IN_PERCENT, /* %arg0 */
  IN_AT,      /* @main, @"a b" */
  IN_HASH,    /* #loc3, #stablehlo.dot; #1 behind %0 */
  IN_BANG,    /* !stablehlo.token */
  IN_CARET,   /* ^bb0 */
  IN_INTEGER, /* 12, 0x7FC0 */
  IN_FLOAT,   /* 1.5e-3; the sign is a token of its own */
  IN_STRING,  /* with its quotes */
  IN_ARROW,   /* -> */
  IN_COLON_COLON,
  IN_RESOURCES, /* {-# */
} in_token_kind;

typedef struct in_token {
  int kind;
  const char *at;
  size_t length;
} in_token;

/* Names with scopes: a hash table whose newest entries can be dropped again. */
typedef struct in_name {
  const char *text;
  uint32_t length, hash, older; /* older: the next entry of the bucket, 1-based */
  uint32_t id, count;           /* SSA: first value and how many; aliases: index */
} in_name;
typedef struct in_names {
  VEC(in_name) entries;
  uint32_t *buckets, n_buckets;
} in_names;

void in_names_put(arena *a, in_names *names, const char *text, size_t length, uint32_t id,
                  uint32_t count);
/* The newest entry of the name, NULL if there is none. */
const in_name *in_names_find(const in_names *names, const char *text, size_t length);
void in_names_drop(in_names *names, uint32_t down_to);

/* `#name = attribute`, `!name = type`, `#name = loc(...)`: read where first used. */
typedef struct in_alias {
  const char *value; /* where the definition's right-hand side begins */
  const char *end;   /* and ends; NULL: not yet read */
  bool reading;      /* defined in terms of itself */
  int height;        /* how many levels it is deep */
  ir_attr attr;
  ir_type type;
  ir_str text; /* as it is put where it is used */
} in_alias;

/* An op while it is read. Frames are reused: one per nesting depth. */
typedef struct in_op {
  const char *at; /* where the op's name stands */
  ir_kind kind;
  ir_str name; /* the full name */
  ir_op id;    /* set once the op had to be made: its regions need it */
  VEC(ir_value) operands;
  VEC(ir_type) results;
  VEC(ir_named_attr) attrs;
  bool has_location;
  ir_str location;
} in_op;

typedef struct in_result_name {
  in_token token;
  uint32_t count;
} in_result_name;

enum { IN_MAX_DEPTH = 256 };

typedef struct in_parser {
  ctx *ctx;
  ir_module *m;
  arena *scratch;          /* until in_stablehlo_text() returns */
  const char *begin, *end; /* the text */
  in_token token;          /* the one to be read */
  const char *next;        /* behind it */
  const char *last;        /* the end of the one before it */
  int depth;               /* of nested types, attributes and regions together */
  int deepest;             /* depth reached since an alias was begun */
  size_t location_bytes;   /* of all locations that aliases make */
  in_names values;
  uint32_t floor;                   /* values.entries below are hidden: an isolated region */
  uint32_t scope_start;             /* values.entries from here on belong to the region in hand */
  VEC(in_result_name) result_names; /* stack */
  in_names alias_names[2];          /* '#' and '!' */
  VEC(in_alias) aliases;
  VEC(in_op *) frames;
  uint32_t n_frames;          /* in use */
  VEC(uint16_t) kinds;        /* by ir_str: 1 + ir_kind, 0: not looked up yet */
  VEC(char) closers;          /* of in_skip_balanced() */
  VEC(ir_named_attr) entries; /* stack of dictionary entries being read */
  VEC(ir_attr) items;         /* the same for arrays */
  VEC(ir_type) types;         /* and for type lists */
  ir_type value_type;         /* the type that the newest attribute of verbatim text ended with */
} in_parser;

/* ---- lexer.c ---- */
void in_next(in_parser *p);
void in_seek(in_parser *p, const char *at); /* the token at `at` becomes p->token */
/* [p->token, end) has been read by other means. */
static inline void in_skip_to(in_parser *p, const char *end) { in_seek(p, end), p->last = end; }
static inline bool in_is(const in_parser *p, int kind) { return p->token.kind == kind; }
static inline bool in_accept(in_parser *p, int kind) {
  return p->token.kind == kind ? in_next(p), true : false;
}
/* for (more = in_begin_list(p, '(', ')', what); more; more = in_more(p, ')')): what is in brackets,
 * with commas between, or nothing. */
bool in_begin_list(in_parser *p, int open, int close, const char *what);
bool in_more(in_parser *p, int close);
bool in_is_word(const in_parser *p, const char *word);
bool in_accept_word(in_parser *p, const char *word);
void in_expect(in_parser *p, int kind, const char *what); /* what: "':'" */
void in_expect_word(in_parser *p, const char *word);
/* INVALID_ARGUMENT "LINE:COLUMN: ..." of the character at `at`. */
_Noreturn void in_fail(in_parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void in_fail_status(in_parser *p, const char *at, weir_status status, const char *format,
                              ...) __attribute__((format(printf, 4, 5)));
/* "found X, wanted <what>" at p->token. */
_Noreturn void in_fail_wanted(in_parser *p, const char *what);
void in_enter(in_parser *p); /* one level deeper; fails at IN_MAX_DEPTH */
/* Notes a depth without going there; fails beyond IN_MAX_DEPTH. */
void in_reach(in_parser *p, int depth);
static inline void in_leave(in_parser *p) {
  CTX_CHECK(p->ctx, p->depth > 0);
  p->depth--;
}
static inline bool in_is_suffix_char(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '.' || c == '-';
}
/* `open` is one of ( [ { <; returns the place behind the bracket that closes it. Strings and -> are
 * skipped. */
const char *in_skip_balanced(in_parser *p, const char *open);
/* Past what the token opens, to its end. */
const char *in_skip_group(in_parser *p);
/* An optionally signed integer of 64 bits. */
int64_t in_integer(in_parser *p);
ir_str in_unescape(in_parser *p, const char *quoted, size_t length); /* a string token's text */
ir_str in_symbol(in_parser *p);                                      /* @name */
static inline ir_str in_token_text(in_parser *p) {
  return ir_intern_text(p->m, p->token.at, p->token.length);
}

static inline ir_attr in_string_attr(in_parser *p, ir_str text) {
  return ir_attr_new(p->m, &(ir_attr_data){.kind = IR_ATTR_STRING, .text = text});
}

/* ---- verbatim.c: text that is kept ---- */
/* [from, to) as MLIR would print it: runs of blanks and comments are one blank, aliases are
 * replaced by what they stand for. */
void in_verbatim(in_parser *p, const char *from, const char *to, strbuf *out);
ir_str in_verbatim_str(in_parser *p, const char *from, const char *to);
/* Notes every definition that begins a line; reads the locations among them. */
void in_find_aliases(in_parser *p);
void in_alias_definition(in_parser *p); /* at '#x' or '!x' before a '='; skips it */
/* NULL: no such alias. `sigil` is '#' or '!'. */
in_alias *in_alias_find(in_parser *p, char sigil, const char *name, size_t length);
/* Makes the alias good for use at the current depth. */
void in_alias_read(in_parser *p, in_alias *alias, char sigil);
/* loc(...): the text between the parentheses. */
ir_str in_location(in_parser *p);
static inline bool in_is_location(const in_parser *p) {
  return p->token.kind == IN_WORD && in_is_word(p, "loc");
}

/* ---- types.c ---- */
ir_type in_type(in_parser *p);
bool in_is_type_start(const in_parser *p);

/* ---- attributes.c, dense.c ---- */
ir_attr in_attribute(in_parser *p);
/* {a = 1, b}: pushed on p->entries, ordered by name; returns how many. The caller pops them. */
uint32_t in_dict(in_parser *p);
ir_attr in_dict_attr(in_parser *p);
ir_attr in_other(in_parser *p, const char *from, const char *to);
ir_attr in_dense(in_parser *p); /* at `dense` */
/* A number as MLIR reads it: to the nearest double. */
double in_real(in_parser *p, const char *from, const char *to);
/* 0x7FC0: a bit pattern. */
double in_real_of_hex(in_parser *p, ir_dtype dtype, const char *from, const char *to);
/* -12 or 0x7F as an integer of the type, extended to 64 bits; false if it does not fit. */
bool in_fit_integer(ir_dtype dtype, const char *from, const char *to, int64_t *out_value);

/* The constant of these elements, which are cleaned in place: i1 becomes 0 or 1, integers below a
 * byte are extended. splat: data holds one element. */
ir_attr in_dense_of(ir_module *m, ir_type type, char *data, bool splat);
/* A whole text as one attribute or type. */
ir_attr in_attribute_of(ctx *c, arena *scratch, ir_module *m, const char *text, size_t length);
ir_type in_type_of(ctx *c, arena *scratch, ir_module *m, const char *text, size_t length);

/* ---- stablehlo_text.c ---- */
void in_adopt_module(ir_module *m); /* a module that is the only op at the top becomes the root */

/* ---- op.c: what all ops have in common ---- */
void in_ops(in_parser *p, ir_block block); /* up to a '}' or the end */
ir_value in_operand(in_parser *p);
void in_add_operand(in_parser *p, in_op *op);                           /* one of them */
void in_operands(in_parser *p, in_op *op);                              /* %a, %b; none is fine */
void in_attr(in_parser *p, in_op *op, const char *name, ir_attr value); /* a property */
/* An optional {...} of the pretty form (or of an old generic form): properties and discardable
 * attributes mixed. */
void in_attr_dict(in_parser *p, in_op *op);
/* The names of its properties, in order. */
typedef struct in_property_names {
  uint32_t count;
  const char *at[VHLO_MAX_ATTRIBUTES];
} in_property_names;
in_property_names in_properties(ir_kind kind);
bool in_has_name(const in_property_names *names, const char *wanted);
/* Properties first, both kinds by name: the order in which MLIR prints them. Returns the name of
 * one that is there twice, else NULL. */
const char *in_sort_attrs(const ir_module *m, ir_named_attr *attrs, uint32_t count);
typedef enum in_attr_class { IN_PROPERTIES, IN_DISCARDABLE, IN_MIXED } in_attr_class;
/* Moves the newest `count` of p->entries to the op. */
void in_take_entries(in_parser *p, in_op *op, uint32_t count, in_attr_class which);
/* Makes the op now, with its operands; results and attributes come with the end of its text. */
void in_make(in_parser *p, in_op *op, uint32_t n_regions);
/* `{...}` as the op's region; `args` are pairs of name token and type, put before any arguments of
 * a ^label. */
typedef struct in_arg {
  in_token name;
  ir_type type;
  ir_str location;
} in_arg;
void in_region(in_parser *p, in_op *op, uint32_t region, const in_arg *args, uint32_t n_args);
in_arg in_block_argument(in_parser *p); /* %x: type loc(...) */
/* `: (types) -> types` of a generic or pretty op: checks the operands and notes the results. */
void in_signature(in_parser *p, in_op *op);
void in_dict_and_signature(in_parser *p, in_op *op); /* in_attr_dict() before it */
void in_function_signature(in_parser *p, in_op *op); /* without the colon */
void in_check_operand(in_parser *p, const in_op *op, uint32_t index, ir_type type);
void in_result(in_parser *p, in_op *op, ir_type type);
void in_results(in_parser *p, in_op *op); /* a type, or several in brackets */
/* n types for the operands, which errors call `what`. */
void in_check_type_count(in_parser *p, const in_op *op, const char *what, uint32_t n);
ir_kind in_kind(in_parser *p, ir_str name);

/* ---- generic.c, pretty.c and its companions ---- */
void in_generic(in_parser *p, in_op *op);      /* at the quoted name */
void in_generic_rest(in_parser *p, in_op *op); /* behind it */
void in_pretty(in_parser *p, in_op *op);       /* at the bare name */

#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  void in_asm_##asm_(in_parser *p, in_op *op);
#include "ir/ops.def"
#undef OP

/* ---- stablehlo_text.c ---- */
typedef struct in_job { /* of a reader: what goes in, and what has to go when it fails */
  ctx *ctx;
  const char *text;
  size_t length;
  arena *scratch;
  ir_module *m;
} in_job;

/* As in_stablehlo_text(), by a reader of an in_job. */
weir_status in_read(ctx *c, const char *text, size_t length, weir_status (*read)(void *),
                    ir_module **out_module);

#endif
