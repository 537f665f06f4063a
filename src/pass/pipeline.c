/* The driver of the passes. See pass.h. */
#include <stdio.h>
#include <time.h>

#include "pass/pass.h"

/* ---- names in options ---- */
/* Calls fn for every name of a comma-separated list until it says stop; true if it did. Spaces
 * around a name do not count. */
static bool any_name(const char *list,
                     bool (*fn)(const char *name, size_t length, const void *user),
                     const void *user) {
  for (const char *p = list; p && *p;) {
    p += strspn(p, " ,");
    size_t n = strcspn(p, ",");
    const char *end = p + n;
    while (n && p[n - 1] == ' ') n--;
    if (n && fn(p, n, user)) return true;
    p = end;
  }
  return false;
}

static bool is_name(const char *name, size_t length, const void *user) {
  return strlen(user) == length && !memcmp(name, user, length);
}

static bool names(const char *list, const char *name) { return any_name(list, is_name, name); }

typedef struct unknown {
  const pass_driver *driver;
  bool wants_pass; /* a setting is none */
  char name[64];
} unknown;

static bool is_unknown(const char *name, size_t length, const void *user) {
  unknown *u = (unknown *)user;
  for (const pass_row *row = u->driver->table; row->name; row++)
    if (is_name(name, length, row->name) && (row->pass || !u->wants_pass)) return false;
  snprintf(u->name, sizeof u->name, "%.*s", (int)length, name);
  return true;
}

weir_status pass_check_options(const pass_driver *d) {
  const weir_options *o = d->options;
  unknown u = {.driver = d};
  const char *dump_after = o->dump_after && !strcmp(o->dump_after, "all") ? NULL : o->dump_after;
  bool is_wrong = any_name(o->skip_passes, is_unknown, &u);
  u.wants_pass = !is_wrong;
  if (!is_wrong && !any_name(o->only_passes, is_unknown, &u) &&
      !any_name(dump_after, is_unknown, &u) && !any_name(o->stop_after, is_unknown, &u))
    return WEIR_OK;
  char known[1024] = ""; /* of all: twice what they take */
  size_t n = 0;
  for (const pass_row *row = d->table; row->name && n < sizeof known; row++)
    if (row->pass || !u.wants_pass)
      n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", row->name);
  return ctx_error(d->c, WEIR_INVALID_ARGUMENT, "no pass named \"%s\"; there are %s", u.name,
                   known);
}

static bool may_run(const pass_driver *d, const char *name) {
  const weir_options *o = d->options;
  return !d->stopped && (!o->only_passes || names(o->only_passes, name)) &&
         !names(o->skip_passes, name);
}

bool pass_is_on(const pass_driver *d, const char *name) {
  const pass_row *row = d->table;
  while (strcmp(row->name, name)) row++;
  return row->pass ? may_run(d, name) : !names(d->options->skip_passes, name);
}

/* ---- running ---- */
static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What a pass has left as it was verifies as before: that is checked where asserts are. */
static bool is_to_verify(const ir_module *m, uint32_t n_ops, uint32_t n_values, bool changed) {
#ifndef NDEBUG
  return true;
#endif
  return changed || m->ops.count != n_ops || m->values.count != n_values;
}

static weir_status verify_after(pass_driver *d, const pass *p, const ir_module *m) {
  if (ir_verify(m) == WEIR_OK) return WEIR_OK;
  char text[sizeof d->c->message];
  memcpy(text, d->c->message, sizeof text);
  return ctx_error(d->c, WEIR_INTERNAL, "pass %s left a program that does not verify: %s", p->name,
                   text);
}

static void dump_after(pass_driver *d, const pass *p, const ir_module *m) {
  const char *wanted = d->options->dump_after;
  if (d->dump && wanted && (!strcmp(wanted, "all") || names(wanted, p->name)))
    d->dump(d->dump_user, m, p->name);
}

weir_status pass_run(pass_driver *d, const pass *p, ir_module *m, bool *out_changed) {
  if (out_changed) *out_changed = false;
  if (!may_run(d, p->name)) return WEIR_OK;
  bool logs = d->c->debug >= 2;
  uint32_t n_ops = m->ops.count, n_values = m->values.count;
  int64_t before = logs ? ir_count_below(m, m->root) : 0, start_ns = now_ns();
  arena *scratch = arena_create(d->c);
  pass_ctx ctx = {.c = d->c,
                  .scratch = scratch,
                  .options = d->options,
                  .user = d->user,
                  .machine = d->machine,
                  .is_for_speed = d->is_for_speed};
  weir_status status = WEIR_OK;
  if (p->run) status = p->run(&ctx, m);
  else pass_rewrite_ops(&ctx, m, p);
  arena_destroy(scratch);
  double ms = (double)(now_ns() - start_ns) / 1e6;
  bool verifies = is_to_verify(m, n_ops, n_values, ctx.changed);
  if (status == WEIR_OK && verifies) status = verify_after(d, p, m);
  if (logs && ctx.changed)
    ctx_log(d->c, 2, "pass %s: %lld -> %lld ops, %.2f ms", p->name, (long long)before,
            (long long)ir_count_below(m, m->root), ms);
  else if (logs)
    ctx_log(d->c, 2, "pass %s: %lld ops (unchanged), %.2f ms", p->name, (long long)before, ms);
  if (status == WEIR_OK) dump_after(d, p, m);
  if (names(d->options->stop_after, p->name)) d->stopped = true;
  if (out_changed) *out_changed = ctx.changed;
  return status;
}
