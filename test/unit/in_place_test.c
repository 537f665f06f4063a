/* Loops in place (ir/in_place.h): what each result of a loop is written over. */
#include "ir/in_place.h"
#include "program_testing.h"

/* The loop of a program: what stands before and after it, its operands, attributes, arguments of
 * its body from the third on, what it yields, the types of its operands and results, their names,
 * and what the program returns. */
typedef struct program {
  const char *before, *operands, *dims, *arguments, *body, *yields, *types, *results, *after,
      *returned, *donated; /* of %x: its attributes; NULL: none */
} program;

static const program over_a_sort = {
    .before =
        "%s = \"stablehlo.sort\"(%x) ({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "  %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "  stablehlo.return %c : tensor<i1>\n"
        "}) {dimension = 0 : i64} : (tensor<6x4xf32>) -> tensor<6x4xf32>\n",
    .operands = "%s",
    .dims =
        "in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: 0>, "
        "out_units = array<i64: 1>",
    .arguments = "%a: tensor<2x4xf32>",
    .body = "  %n = stablehlo.negate %a : tensor<2x4xf32>\n",
    .yields = "(%n) : (tensor<2x4xf32>) -> ()",
    .types = "(tensor<6x4xf32>) -> tensor<6x4xf32>",
    .results = "%y",
    .after = "",
    .returned = "%y"};

typedef struct run {
  int32_t over[2]; /* of the first results */
} run;

static weir_status go(ir_module *m, arena *a, void *user) {
  run *r = user;
  ir_in_place known = ir_in_place_of(a, m);
  for (ir_op op = 1; op < m->ops.count; op++) {
    if (ir_kind_of(m, op) != IR_OP_LOOP) continue;
    assert(ir_op_get(m, op)->n_results <= 2);
    ir_loop_in_place(&known, op, r->over);
  }
  return WEIR_OK;
}

/* What the results of the loop are written over; -2: there is none, or the program is bad. */
static run ran(program p) {
  char text[4000];
  snprintf(text, sizeof text,
           "func.func @main(%%x: tensor<6x4xf32> {%s}, %%v: tensor<6xf32>) -> (tensor<6x4xf32>) "
           "{\n%s"
           "%s = \"weir.loop\"(%s) <{extent = 6 : i64, slice = 2 : i64, %s}> ({\n"
           "^bb0(%%start: tensor<i64>, %%lo: tensor<i64>, %s):\n%s  \"weir.yield\"%s\n}) : %s\n%s"
           "return %s : tensor<6x4xf32>\n}\n",
           p.donated ? p.donated : "", p.before, p.results, p.operands, p.dims, p.arguments, p.body,
           p.yields, p.types, p.after, p.returned);
  run r = {.over = {-2, -2}};
  (void)!program_ask((program_asked){.text = text, .ask = go, .user = &r});
  return r;
}

static int32_t over(program p) { return ran(p).over[0]; }
static int32_t second_over(program p) { return ran(p).over[1]; }

#define TWO_INPUTS(dim)                                                                            \
  "in_dims = array<i64: 0, " dim                                                                   \
  ">, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, "                                     \
  "out_units = array<i64: 1>"

static void where_it_dies(void) {
  program p = over_a_sort;
  assert(over(p) == 0);
  p.operands = "%v, %s";
  p.dims = TWO_INPUTS("0");
  p.arguments = "%b: tensor<2xf32>, %a: tensor<2x4xf32>";
  p.types = "(tensor<6xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>";
  assert(over(p) == 1);
}

static void not_where_it_is_read_afterwards(void) {
  program p = over_a_sort;
  p.after = "%z = stablehlo.add %s, %y : tensor<6x4xf32>\n";
  assert(over(p) == IR_NOT_IN_PLACE);
}

/* Who read it before: one that the loop waits for, and one that might come later. */
static void not_where_a_reader_may_come_later(void) {
  static const char read[] =
      "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [1] : "
      "(tensor<6x4xf32>, tensor<f32>) -> tensor<6xf32>\n";
  char before[2000];
  program p = over_a_sort;
  snprintf(before, sizeof before, "%s%s", p.before, read);
  p.before = before;
  assert(over(p) == IR_NOT_IN_PLACE);
  p.operands = "%s, %r";
  p.dims = TWO_INPUTS("0");
  p.arguments = "%a: tensor<2x4xf32>, %b: tensor<2xf32>";
  p.types = "(tensor<6x4xf32>, tensor<6xf32>) -> tensor<6x4xf32>";
  assert(over(p) == 0);
}

static void not_where_it_is_read_elsewhere(void) {
  program p = over_a_sort;
  p.operands = "%s, %s"; /* the whole, too */
  p.dims = TWO_INPUTS("-1");
  p.arguments = "%a: tensor<2x4xf32>, %b: tensor<6x4xf32>";
  p.types = "(tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>";
  assert(over(p) == IR_NOT_IN_PLACE);
  p.dims = TWO_INPUTS("0"); /* twice */
  p.arguments = "%a: tensor<2x4xf32>, %b: tensor<2x4xf32>";
  assert(over(p) == IR_NOT_IN_PLACE);
}

/* Columns are read, or half of the rows, and rows are written. */
static void not_where_slices_differ(void) {
  program p = over_a_sort;
  p.before = "%t = stablehlo.tanh %x : tensor<6x4xf32>\n";
  p.operands = "%t";
  assert(over(p) == 0);
  p.dims =
      "in_dims = array<i64: -1>, in_units = array<i64: 1>, out_dims = array<i64: 0>, "
      "out_units = array<i64: 1>";
  p.arguments = "%a: tensor<6x4xf32>";
  p.body =
      "  %n = \"stablehlo.slice\"(%a) {start_indices = array<i64: 0, 0>, limit_indices = "
      "array<i64: 2, 4>, strides = array<i64: 1, 1>} : (tensor<6x4xf32>) -> tensor<2x4xf32>\n";
  assert(over(p) == IR_NOT_IN_PLACE);
}

static void not_over_what_has_no_buffer(void) {
  program p = over_a_sort;
  p.operands = "%x"; /* an argument */
  assert(over(p) == IR_NOT_IN_PLACE);
  p.before = "%s = stablehlo.reverse %x, dims = [0] : tensor<6x4xf32>\n"; /* moved */
  p.operands = "%s";
  assert(over(p) == IR_NOT_IN_PLACE);
  p.before = "%s = stablehlo.constant dense<1.0> : tensor<6x4xf32>\n";
  assert(over(p) == IR_NOT_IN_PLACE);
}

static void over_what_is_donated(void) {
  program p = over_a_sort;
  p.before = "";
  p.operands = "%x";
  p.donated = "tf.aliasing_output = 0 : i32";
  assert(over(p) == 0);
  p.donated = "jax.buffer_donor = true";
  assert(over(p) == 0);
  p.donated = "tf.aliasing_output = 1 : i32"; /* another result's */
  assert(over(p) == IR_NOT_IN_PLACE);
  p.donated = "jax.buffer_donor = false";
  assert(over(p) == IR_NOT_IN_PLACE);
  p.donated = "tf.aliasing_output = 0 : i32";
  p.after = "%z = stablehlo.negate %y : tensor<6x4xf32>\n"; /* not the loop's result */
  p.returned = "%z";
  assert(over(p) == IR_NOT_IN_PLACE);
  p.after = "%z = stablehlo.add %x, %y : tensor<6x4xf32>\n"; /* read afterwards */
  p.returned = "%y";
  assert(over(p) == IR_NOT_IN_PLACE);
}

/* Two results of one input: the first is written over it, unless it is of another type. */
static void once_and_of_one_type(void) {
  program p = over_a_sort;
  p.dims =
      "in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: 0, 0>, "
      "out_units = array<i64: 1, 1>";
  p.results = "%y, %w";
  p.yields = "(%n, %a) : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()";
  p.types = "(tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>)";
  assert(over(p) == 0 && second_over(p) == IR_NOT_IN_PLACE);
  p.body = "  %n = stablehlo.convert %a : (tensor<2x4xf32>) -> tensor<2x4xf64>\n";
  p.yields = "(%n, %a) : (tensor<2x4xf64>, tensor<2x4xf32>) -> ()";
  p.types = "(tensor<6x4xf32>) -> (tensor<6x4xf64>, tensor<6x4xf32>)";
  p.returned = "%w";
  assert(over(p) == IR_NOT_IN_PLACE && second_over(p) == 0);
}

/* A number for each index, and a carry. */
static void not_of_vectors_or_carries(void) {
  program p = over_a_sort;
  p.before = "%s = stablehlo.tanh %x : tensor<6x4xf32>\n";
  p.dims =
      "in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: -1>, "
      "out_units = array<i64: 1>";
  p.operands = "%s, %s";
  p.arguments = "%a: tensor<2x4xf32>, %c: tensor<6x4xf32>";
  p.body = "";
  p.yields = "(%c) : (tensor<6x4xf32>) -> ()";
  p.types = "(tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>";
  assert(over(p) == IR_NOT_IN_PLACE);
}

/* What the loop in a while's body is written over, which is made of the first state (a step's
 * words: what follows the loop, and the next states). */
static int32_t over_a_state(const char *after, const char *next) {
  char text[4000];
  snprintf(
      text, sizeof text,
      "func.func @main(%%x: tensor<6x4xf32>) -> tensor<6x4xf32> {\n"
      "%%r:2 = \"stablehlo.while\"(%%x, %%x) ({\n"
      "^bb0(%%p: tensor<6x4xf32>, %%q: tensor<6x4xf32>):\n"
      "  %%c = stablehlo.constant dense<true> : tensor<i1>\n  stablehlo.return %%c : tensor<i1>\n"
      "}, {\n^bb0(%%p: tensor<6x4xf32>, %%q: tensor<6x4xf32>):\n"
      "  %%y = \"weir.loop\"(%%p) <{extent = 6 : i64, slice = 2 : i64, in_dims = array<i64: 0>, "
      "in_units = array<i64: 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>}> ({\n"
      "  ^bb0(%%start: tensor<i64>, %%lo: tensor<i64>, %%a: tensor<2x4xf32>):\n"
      "    %%n = stablehlo.negate %%a : tensor<2x4xf32>\n"
      "    \"weir.yield\"(%%n) : (tensor<2x4xf32>) -> ()\n"
      "  }) : (tensor<6x4xf32>) -> tensor<6x4xf32>\n%s"
      "  \"stablehlo.return\"(%s) : (tensor<6x4xf32>, tensor<6x4xf32>) -> ()\n"
      "}) : (tensor<6x4xf32>, tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>)\n"
      "return %%r#0 : tensor<6x4xf32>\n}\n",
      after, next);
  run r = {.over = {-2, -2}};
  (void)!program_ask((program_asked){.text = text, .ask = go, .user = &r});
  return r.over[0];
}

static void over_what_a_while_carries(void) {
  static const char sum[] = "  %z = stablehlo.add %p, %y : tensor<6x4xf32>\n";
  assert(over_a_state("", "%y, %q") == 0);
  assert(over_a_state("", "%q, %y") == IR_NOT_IN_PLACE);  /* the other state's next */
  assert(over_a_state("", "%y, %p") == IR_NOT_IN_PLACE);  /* carried on */
  assert(over_a_state(sum, "%y, %z") == IR_NOT_IN_PLACE); /* read afterwards */
  assert(over_a_state(sum, "%z, %q") == IR_NOT_IN_PLACE);
}

int main(void) {
  where_it_dies();
  not_where_it_is_read_afterwards();
  not_where_a_reader_may_come_later();
  not_where_it_is_read_elsewhere();
  not_where_slices_differ();
  not_over_what_has_no_buffer();
  over_what_is_donated();
  over_what_a_while_carries();
  once_and_of_one_type();
  not_of_vectors_or_carries();
  return 0;
}
