/* weir_reduce(): a smaller program of which `check` says the same. Tries the ways of pass/shrink.h
 * on runs of places that halve in length (delta debugging: Zeller, Hildebrandt 2002), in rounds,
 * until a round changes nothing. What does not verify is not shown to check.
 */
#include "in/in.h"
#include "ir/calls.h"
#include "out/out.h"
#include "pass/pass.h"
#include "pass/shrink.h"
#include "limit/result.h"

typedef struct reduction {
  ctx c;
  const char *text;
  size_t length;
  weir_check check;
  void *user;
  weir_result *result; /* its text is that of `best` */
  ir_module *best;
  bool sweeps;      /* dead code is of no interest */
  int64_t n_checks; /* how often check was asked */
} reduction;

static weir_status sweep(ir_module *m) {
  weir_options options = WEIR_OPTIONS_INIT;
  pass_ctx p = {.c = m->ctx, .scratch = arena_create(m->ctx), .options = &options};
  weir_status status = pass_dce.run(&p, m);
  arena_destroy(p.scratch);
  return status;
}

static bool same_text(const reduction *r, const strbuf *text) {
  size_t length;
  const char *best = weir_result_text(r->result, &length);
  return best && length == text->length && !memcmp(best, text->text, length);
}

/* Whether check says yes; then the candidate is the best so far. */
static weir_status ask(reduction *r, ir_module *candidate, bool *out_taken) {
  weir_status status = WEIR_OK;
  arena *a = arena_create(&r->c);
  strbuf text = strbuf_make(a);
  out_stablehlo_text(candidate, &text);
  *out_taken = !same_text(r, &text) && ++r->n_checks && r->check(r->user, text.text, text.length);
  if (*out_taken) status = result_set_text(&r->c, r->result, text.text, text.length);
  arena_destroy(a);
  if (*out_taken && r->best != candidate) {
    ir_module_destroy(r->best);
    r->best = candidate;
  }
  return status;
}

static weir_status try_one(reduction *r, const pass_shrink *way, uint32_t first, uint32_t count,
                           bool *out_taken) {
  ir_module *m = ir_module_clone(r->best);
  *out_taken = false;
  way->apply(m, first, count);
  bool verifies = ir_verify(m) == WEIR_OK;
  if (verifies && r->sweeps) verifies = sweep(m) == WEIR_OK && ir_verify(m) == WEIR_OK;
  if (verifies) WEIR_TRY(ask(r, m, out_taken));
  if (!*out_taken) ir_module_destroy(m);
  return WEIR_OK;
}

/* Every place once, first all of them together, then in halves, quarters. */
static weir_status reduce_by(reduction *r, const pass_shrink *way, bool *in_out_progress) {
  for (uint32_t run = way->count(r->best); run; run /= 2)
    for (uint32_t first = 0, n; first < (n = way->count(r->best));) {
      bool taken;
      WEIR_TRY(try_one(r, way, first, run < n - first ? run : n - first, &taken));
      *in_out_progress |= taken;
      if (!taken) first += run;
    }
  return WEIR_OK;
}

static weir_status read(reduction *r) {
  WEIR_TRY(in_program(&r->c, r->text, r->length, &r->best));
  WEIR_TRY(ir_verify(r->best));
  return ir_check_main(r->best);
}

/* The program as weir prints it must show what it shows; whether without dead code too is found
 * out. */
static weir_status begin(reduction *r) {
  bool taken;
  WEIR_TRY(ask(r, r->best, &taken));
  if (!taken)
    return ctx_error(&r->c, WEIR_NOT_FOUND,
                     "the check fails for the program itself, as weir prints it");
  ir_module *m = ir_module_clone(r->best);
  int64_t ops = ir_count_below(m, m->root);
  WEIR_TRY(sweep(m));
  r->sweeps = ir_count_below(m, m->root) == ops;
  if (!r->sweeps) WEIR_TRY(ask(r, m, &r->sweeps));
  if (r->best != m) ir_module_destroy(m);
  return WEIR_OK;
}

static weir_status reduce(void *user) {
  reduction *r = user;
  WEIR_TRY(read(r));
  int64_t ops = ir_count_below(r->best, r->best->root);
  WEIR_TRY(begin(r));
  for (bool progress = true; progress;) {
    progress = false;
    for (const pass_shrink *way = pass_shrinks; way->name; way++)
      WEIR_TRY(reduce_by(r, way, &progress));
  }
  arena *a = arena_create(&r->c);
  const char *summary =
      arena_printf(a, "%lld ops -> %lld ops in %lld checks\n", (long long)ops,
                   (long long)ir_count_below(r->best, r->best->root), (long long)r->n_checks);
  weir_status status = result_set_explain(&r->c, r->result, summary);
  arena_destroy(a);
  return status;
}

weir_status weir_reduce(const char *text, size_t length, weir_check check, void *user,
                        weir_result **out_result) {
  reduction r = {.text = text, .length = length, .check = check, .user = user};
  return result_make(&r.c, reduce, &r, &r.result, out_result);
}
