/* Whiles: which carry counts, and to what number (ir/trips.c); with other carries (ir/build.c). */
#include "ir/attrs.h"
#include "program_testing.h"

/* A while of a counter, a bound and a value that no trip changes. */
typedef struct program {
  const char *first, *test, *step, *end; /* end: what the bound is in the next trip */
} program;

static weir_status ask(program p, weir_status (*go)(ir_module *, arena *, void *), void *user) {
  char text[2000];
  snprintf(text, sizeof text,
           "func.func @main(%%n: tensor<i64>) -> (tensor<i64>, tensor<i64>) {\n"
           "  %%first = stablehlo.constant dense<%s> : tensor<i64>\n"
           "  %%bound = stablehlo.constant dense<10> : tensor<i64>\n"
           "  %%step = stablehlo.constant dense<%s> : tensor<i64>\n"
           "  %%r:3 = stablehlo.while(%%i = %%first, %%e = %%bound, %%x = %%n) : tensor<i64>, "
           "tensor<i64>, tensor<i64>\n"
           "  cond {\n"
           "    %%c = stablehlo.compare %s : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
           "    stablehlo.return %%c : tensor<i1>\n"
           "  } do {\n"
           "    %%j = stablehlo.add %%i, %%step : tensor<i64>\n"
           "    stablehlo.return %%j, %s, %%x : tensor<i64>, tensor<i64>, tensor<i64>\n"
           "  }\n"
           "  return %%r#0, %%r#1 : tensor<i64>, tensor<i64>\n}\n",
           p.first, p.step, p.test, p.end);
  return program_ask((program_asked){.text = text, .ask = go, .user = user});
}

static ir_op find_while(const ir_module *m) {
  ir_block block = ir_body(m, ir_main_function(m));
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++)
    if (ir_kind_of(m, op) == IR_OP_WHILE) return op;
  return IR_NONE;
}

static weir_status count(ir_module *m, arena *a, void *user) {
  (void)a;
  ir_counter *c = user;
  if (!ir_find_counter(m, find_while(m), c)) c->trips = -1;
  assert(ir_trips(m, find_while(m)) == c->trips);
  assert(ir_growth(m, find_while(m), 2) == 0);
  return WEIR_OK;
}

static ir_counter counted(program p) {
  ir_counter c = {.trips = -2};
  (void)!ask(p, count, &c);
  return c;
}

static void counters(void) {
  ir_counter c = counted((program){"0", "LT, %i, %e", "1", "%e"});
  assert(c.carry == 0 && c.first == 0 && c.by == 1 && c.trips == 10);
  c = counted((program){"1", "GE, %e, %i", "3", "%e"});
  assert(c.carry == 0 && c.first == 1 && c.by == 3 && c.trips == 4);
  assert(counted((program){"10", "GT, %i, %first", "-2", "%e"}).trips == 0);
  assert(counted((program){"20", "GT, %i, %e", "-2", "%e"}).trips == 5);
  assert(counted((program){"0", "LT, %i, %e", "1", "%i"}).trips == -1); /* the bound moves */
  assert(counted((program){"0", "LT, %i, %x", "1", "%e"}).trips == -1); /* it is data */
  assert(counted((program){"0", "LT, %x, %e", "1", "%e"}).trips == -1); /* nothing moves */
  assert(counted((program){"0", "NE, %i, %e", "1", "%e"}).trips == -1);
  assert(counted((program){"0", "LT, %i, %e", "0", "%e"}).trips == -1);
}

/* The while without carry *gone, with the argument of the function in its place or beside it. */
static weir_status change(ir_module *m, arena *a, void *user) {
  uint32_t gone = *(uint32_t *)user, n = gone == IR_NO_CARRY ? 4 : 3;
  ir_block block = ir_body(m, ir_main_function(m));
  ir_op old = find_while(m), made = IR_NONE;
  ir_value more = ir_argument(m, block, 0);
  ir_map *map = ir_map_new(a, m);
  ir_ops ops = ir_take_ops(m, block);
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    ir_builder b = {m, block, ir_op_get(m, op)->location};
    if (op != old) ir_block_append(m, block, op);
    else made = ir_build_while_with(&b, op, gone, &more, 1, map);
  }
  ir_replace_uses(m, block, map);
  WEIR_TRY(ir_verify(m));
  assert(made == find_while(m) && ir_op_get(m, made)->n_results == n && ir_trips(m, made) == 10);
  assert(ir_operand(m, made, n - 1) == more && ir_is_handed_on(m, ir_while_body(m, made), n - 1));
  assert(ir_map_has(map, ir_result(m, old, 2)) == (gone == IR_NO_CARRY));
  assert(ir_operand(m, ir_terminator(m, block), 1) == ir_result(m, made, 1));
  return WEIR_OK;
}

int main(void) {
  uint32_t none = IR_NO_CARRY, last = 2;
  program p = {"0", "LT, %i, %e", "1", "%e"};
  counters();
  assert(ask(p, change, &none) == WEIR_OK);
  assert(ask(p, change, &last) == WEIR_OK);
  return 0;
}
