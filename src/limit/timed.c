/* What is kept: a file for each choice, named by the hash of the program without locations and of
 * all that the two ways follow from: settings, the machine in full, versions, the library's file.
 * It says how long both took, and is checked when it is read; whoever writes first decides for all.
 */
#include "limit/timed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/kept.h"
#include "call/kernel.h"
#include "ir/attrs.h"
#include "ir/lapack.h"
#include "limit/referee.h"
#include "limit/result.h"
#include "machine/tuned.h"
#include "out/out.h"

/* ---- what may run ---- */
static bool is_lapacks(const ir_module *m, ir_op call) {
  const char *target = ir_op_string(m, call, "call_target_name");
  return ir_lapack_find(target) >= 0 && !ir_op_bool(m, call, "has_side_effect", false);
}

/* It has effects, or need not end, with arguments that are made up. */
static bool may_not_run(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind == IR_OP_CUSTOM_CALL) return !is_lapacks(m, op);
  bool has_effect = kind != IR_OP_FUNC && (ir_kind_flags(kind) & IR_FLAG_X);
  return kind == IR_OP_UNKNOWN || has_effect || (kind == IR_OP_WHILE && ir_trips(m, op) < 0);
}

static bool has_plain_arguments(const ir_module *m) {
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, ir_body(m, ir_main_function(m)), i)); i++)
    if (!ir_is_static_tensor(m, ir_type_of(m, arg))) return false;
  return true;
}

static bool may_time(const job *j) {
  const weir_options *o = &j->options;
  bool is_named = o->machine && *o->machine, is_one = true;
  const char *const counts[] = {"mhlo.num_partitions", "mhlo.num_replicas"};
  for (int i = 0; i < 2; i++) is_one &= ir_op_int(j->m, j->m->root, counts[i], 1) == 1;
  return o->timed_by && o->tile == WEIR_TILE_AUTO && !is_named && is_one &&
         !strcmp(o->platform, "cpu") && has_plain_arguments(j->m) &&
         !ir_any(ir_walk_block(j->m, ir_top(j->m)), may_not_run);
}

/* ---- what is kept ---- */
enum { MOST_BYTES = 1 << 12 };

static void put_settings(const job *j, const timed_ways *w, strbuf *out) {
  const weir_options *o = &j->options;
  char build[KEPT_STAMP_ROOM];
  kept_stamp((const void *)(uintptr_t)weir_version, build);
  strbuf_printf(out, "%s %d|%s|%s|%s|%s %s %lld|", WEIR_VERSION, KERNEL_CALL_VERSION, build,
                o->timed_by, machine_text(out->arena, &j->machine), w->about,
                w->held ? w->held : "", (long long)w->limit_bytes);
  strbuf_printf(out, "%s|%s|%lld|%d\n", o->only_passes ? o->only_passes : "",
                o->skip_passes ? o->skip_passes : "", (long long)o->search_ops, o->progress);
}

static void make_key(job *j, const timed_ways *w, uint64_t key[2]) {
  arena *a = arena_create(&j->c);
  strbuf b = strbuf_make(a);
  put_settings(j, w, &b);
  strbuf program = strbuf_make(a);
  out_plain_text(j->m, &program);
  const uint64_t begin[] = {HASH_WIDE_BEGIN, 0x9e3779b97f4a7c15u};
  for (int i = 0; i < 2; i++)
    key[i] =
        hash_wide(hash_wide(begin[i], b.text, b.length), program.text, program.length) ^ b.length;
  arena_destroy(a);
}

static const char *name_of(arena *a, const timed *t) {
  return arena_printf(a, "%016" PRIx64 "%016" PRIx64 KEPT_CHOICE, t->key[0], t->key[1]);
}

/* For people a line of the machine, for who reads it four numbers, and what shows damage. */
static const char *text_of(arena *a, const job *j, const timed *t) {
  const weir_took *took = t->took;
  const char *said =
      arena_printf(a, "weir-timed 1 %s\n%lld %lld %lld %lld\n", machine_text(a, &j->machine),
                   (long long)took[0].ns, (long long)took[0].cpu_ns, (long long)took[1].ns,
                   (long long)took[1].cpu_ns);
  return arena_printf(a, "%s%016" PRIx64 "\n", said,
                      hash_wide(HASH_WIDE_BEGIN, said, strlen(said)) ^ t->key[0]);
}

static bool is_measured(const weir_took took[2]) {
  return took[0].ns > 0 && took[1].ns > 0 && took[0].cpu_ns >= 0 && took[1].cpu_ns >= 0;
}

/* Kept so that nobody asks again. */
static bool is_never(const weir_took took[2]) {
  return !took[0].ns && !took[0].cpu_ns && !took[1].ns && !took[1].cpu_ns;
}

/* What it says must be what would be written of it. */
static bool read_took(const job *j, timed *t, arena *a) {
  size_t length;
  const char *text = kept_read(a, name_of(a, t), MOST_BYTES, &length);
  const char *numbers = text ? strchr(text, '\n') : NULL;
  long long n[4];
  if (!numbers || sscanf(numbers, "%lld %lld %lld %lld", &n[0], &n[1], &n[2], &n[3]) != 4)
    return false;
  timed found = *t;
  found.took[0] = (weir_took){n[0], n[1]};
  found.took[1] = (weir_took){n[2], n[3]};
  bool is_known = is_measured(found.took) || is_never(found.took);
  if (!is_known || strcmp(text, text_of(a, j, &found))) return false;
  *t = found;
  return true;
}

static void note(job *j, const timed *t) {
  weir_summary *s = &j->result->summary;
  s->tried_took_ns = t->took[0].ns;
  s->else_took_ns = t->took[1].ns;
  s->tried_how = t->ways.how ? t->ways.how : "with kernels";
  ctx_log(&j->c, 2, "timed: %.3g ms %s (CPU %.3g), %.3g ms without (CPU %.3g)",
          (double)t->took[0].ns / 1e6, s->tried_how, (double)t->took[0].cpu_ns / 1e6,
          (double)t->took[1].ns / 1e6, (double)t->took[1].cpu_ns / 1e6);
}

static void look_up(job *j, timed *t) {
  arena *a = arena_create(&j->c);
  if (read_took(j, t, a)) {
    t->choice = timed_choice_of(t->took);
    if (t->choice != TIMED_NEVER) note(j, t);
  }
  arena_destroy(a);
}

static bool keeps(job *j) {
  arena *a = arena_create(&j->c);
  bool has_folder = kept_folder(a);
  arena_destroy(a);
  return has_folder;
}

/* Whether there is a choice now: another process may have been first. */
static bool keep(job *j, timed *t) {
  arena *a = arena_create(&j->c);
  const char *text = text_of(a, j, t);
  kept_part whole = {text, strlen(text)};
  bool is_first = kept_write_new(a, name_of(a, t), &whole, 1);
  bool is_kept = is_first || read_took(j, t, a) || kept_write(a, name_of(a, t), &whole, 1);
  arena_destroy(a);
  return is_kept;
}

/* The same ways where this limit is asked for: another one may have room to run them. */
static timed under_limit(const job *j, timed t) {
  int64_t limit = j->options.memory_limit_bytes;
  for (int i = 0; i < 2; i++) t.key[i] = hash_wide(t.key[i], &limit, sizeof limit);
  return t;
}

timed timed_look_up(job *j, timed_ways ways) {
  timed t = {.choice = TIMED_NEVER, .ways = ways};
  if (!may_time(j) || !keeps(j)) return t;
  make_key(j, &ways, t.key);
  if (j->options.timer) t.choice = TIMED_OPEN;
  look_up(j, &t);
  timed limited = under_limit(j, t);
  if (t.choice == TIMED_OPEN) look_up(j, &limited);
  t.choice = limited.choice;
  return t;
}

/* ---- the choice ---- */
bool timed_is_unsure(double kernels_ns, double xla_ns) {
  double gain = xla_ns / kernels_ns;
  return gain >= TUNED_TIMED_GAIN && gain < TUNED_SURE_GAIN &&
         2 * kernels_ns + xla_ns <= TIMED_MOST_NS;
}

bool timed_are_quick(double ns) { return 2 * ns <= TIMED_MOST_NS; }

/* Of many short runs CPU time may be less than what it is counted in. */
static double cpu_gain(const weir_took *kernels, const weir_took *xla) {
  bool is_known = kernels->cpu_ns > 0 && xla->cpu_ns > 0;
  return is_known ? (double)xla->cpu_ns / (double)kernels->cpu_ns : 1;
}

timed_choice timed_choice_of(const weir_took took[2]) {
  if (is_never(took)) return TIMED_NEVER;
  double by_clock = (double)took[1].ns / (double)took[0].ns, by_cpu = cpu_gain(&took[0], &took[1]);
  bool gains = by_clock >= TUNED_TOOK_LEAST && by_cpu >= TUNED_TOOK_LEAST &&
               by_clock * by_cpu >= TUNED_TOOK_GAIN * TUNED_TOOK_GAIN;
  return gains ? TIMED_GAINS : TIMED_LOSES;
}

enum { TIMER_NEVER = 2 }; /* see weir_timer */

typedef struct way {
  weir_way said;
  const char *options[MACHINE_MOST_OPTIONS + 1];
} way;

static void make_way(const job *j, arena *a, const candidate *c, way *out) {
  candidate_options(j, c, out->options);
  out->said = (weir_way){.options = out->options};
  if (!c->m) return;
  strbuf text = strbuf_make(a);
  out_stablehlo_text(c->m, &text);
  out->said.text = text.text;
  out->said.length = text.length;
}

/* Whether there is an answer to be kept. */
static bool ask(job *j, timed *t, const candidate *tried, const candidate *other) {
  arena *a = arena_create(&j->c);
  way ways[2];
  make_way(j, a, tried, &ways[0]);
  make_way(j, a, other, &ways[1]);
  ctx_give_back(&j->c);
  weir_took took[2] = {{0}};
  j->result->summary.timer_calls++;
  int says =
      j->options.timer(j->options.timer_user, (weir_way[]){ways[0].said, ways[1].said}, took);
  bool is_timed = says == 0 && is_measured(took);
  if (is_timed) memcpy(t->took, took, sizeof took);
  arena_destroy(a);
  return is_timed || says == TIMER_NEVER;
}

void timed_give_up(job *j, const timed *t) {
  timed never = {.key = {t->key[0], t->key[1]}};
  if (t->choice == TIMED_OPEN) keep(j, &never);
}

timed_choice timed_choose(job *j, timed *t, const candidate *tried, const candidate *other) {
  if (t->choice != TIMED_OPEN) return t->choice;
  t->choice = TIMED_NEVER;
  if (!ask(j, t, tried, other)) return t->choice;
  timed kept = is_never(t->took) ? under_limit(j, *t) : *t;
  if (!keep(j, &kept)) return t->choice;
  memcpy(t->took, kept.took, sizeof kept.took);
  t->choice = timed_choice_of(t->took);
  if (t->choice != TIMED_NEVER) note(j, t);
  return t->choice;
}
