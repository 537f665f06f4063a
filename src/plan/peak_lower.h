/* Inside of the lowering: what peak_lower.c (structure) and peak_rules.c (rules per op) share. */
#ifndef WEIR_PLAN_PEAK_LOWER_H
#define WEIR_PLAN_PEAK_LOWER_H
#include "ir/in_place.h"
#include "plan/peak_graph.h"

typedef struct plan_slot {
  uint64_t hash; /* 0: free */
  uint32_t node;
} plan_slot;

typedef struct plan_scope { /* a computation that is being filled */
  struct plan_scope *outer;
  struct plan_scope *shares; /* a condition: the body whose state it has */
  uint32_t comp, parameter, depth;
  uint32_t n_state; /* elements of the state that are carried; captures come after them */
  bool is_loop;
  VEC(uint32_t) captures; /* nodes of the scope around */
} plan_scope;

typedef struct lowering {
  plan_graph *g;
  uint32_t *map;    /* by IR value: its node */
  uint32_t *uses;   /* by IR value: operands that name it */
  plan_slot *table; /* nodes by the hash of what they compute */
  uint32_t table_count, table_room;
  uint32_t call_depth;
  bool hoists; /* loop-invariant code motion is on */
  bool keeps;  /* loops may keep a value, and so be in place (split_keeping) */
  ir_in_place in_place;
} lowering;

/* A node like desc in the scope, or the equal one that is there, or its import if it is the same
 * in every trip. */
uint32_t plan_make(lowering *l, plan_scope *s, const plan_node *desc);
uint32_t plan_import(lowering *l, plan_scope *s, uint32_t node);
uint32_t plan_node_of(lowering *l, plan_scope *s, ir_value v);
uint32_t plan_element(lowering *l, plan_scope *s, uint32_t tuple, uint32_t index);
void plan_bind(lowering *l, ir_op op, uint32_t result, uint32_t node);
uint64_t plan_attrs_hash(const ir_module *m, ir_op op);
/* A computation of one result that the scope calls: to be filled in between by nodes of the scope
 * returned, which imports what it reads. What comes out is the result. */
plan_scope *plan_open_call(lowering *l, plan_scope *s);
uint32_t plan_close_call(lowering *l, plan_scope *s, plan_scope *inner, ir_op op, uint32_t root);

/* Every op that is not control flow: peak_rules.c. */
void plan_lower_plain(lowering *l, plan_scope *s, ir_op op);

/* weir.loop as split/loops.h defines it, and the nodes that lowering it to a while makes:
 * peak_rules.c. */
typedef struct plan_loop {
  ir_loop of;
  ir_block body;
  int32_t *over; /* by result, the input that it is written over (ir/in_place.h) */
} plan_loop;
/* Binds the body's arguments that are not carries. instead: by input, the node that it is read
 * from, in memory before that is written over; 0: its own. */
void plan_loop_inputs(lowering *l, plan_scope *s, ir_op op, const plan_loop *w, uint32_t start,
                      const uint32_t *instead);
uint32_t plan_loop_counter(lowering *l, plan_scope *s, ir_op op);
uint32_t plan_loop_next(lowering *l, plan_scope *s, ir_op op, uint32_t t);
uint32_t plan_loop_more(lowering *l, plan_scope *s, ir_op op, uint32_t t);
uint32_t plan_loop_update(lowering *l, plan_scope *s, ir_op op, uint32_t x, uint32_t slice,
                          uint32_t start);
uint32_t plan_loop_zeros(lowering *l, plan_scope *s, ir_op op, uint32_t result);

#endif
