#include "limit/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

weir_result *result_create(void) {
  weir_result *r = calloc(1, sizeof *r);
  if (r) r->summary.struct_size = sizeof r->summary;
  return r;
}

void weir_result_destroy(weir_result *r) {
  if (!r) return;
  for (int32_t i = 0; i < r->summary.loops; i++) free((char *)r->loops[i].seed);
  free(r->loops);
  free(r->text);
  free(r->explain);
  free(r->data);
  free(r->trace);
  free(r);
}

static weir_status copy_text(ctx *c, char **to, const char *text, size_t length) {
  char *copy = malloc(length + 1);
  if (!copy)
    return ctx_error(c, WEIR_RESOURCE_EXHAUSTED, "out of memory for a result of %zu bytes", length);
  memcpy(copy, text, length);
  copy[length] = 0;
  free(*to);
  *to = copy;
  return WEIR_OK;
}

weir_status result_set_text(ctx *c, weir_result *r, const char *text, size_t length) {
  r->length = length;
  return copy_text(c, &r->text, text, length);
}

weir_status result_set_explain(ctx *c, weir_result *r, const char *text) {
  return copy_text(c, &r->explain, text, strlen(text));
}

weir_status result_set_data(ctx *c, weir_result *r, const char *text) {
  return copy_text(c, &r->data, text, strlen(text));
}

weir_status result_set_trace(ctx *c, weir_result *r, const char *text) {
  return copy_text(c, &r->trace, text, strlen(text));
}

void result_set_error(weir_result *r, const char *message) {
  snprintf(r->message, sizeof r->message, "%s", message);
}

weir_status result_make(ctx *c, weir_status (*what)(void *user), void *user, weir_result **own,
                        weir_result **out_result) {
  *own = *out_result = result_create();
  if (!*own) return WEIR_RESOURCE_EXHAUSTED;
  ctx_init(c);
  weir_status status = ctx_try(c, what, user);
  if (status != WEIR_OK) result_set_error(*own, c->message);
  ctx_deinit(c);
  return status;
}

weir_status result_add_loop(ctx *c, weir_result *r, const weir_loop_info *info) {
  size_t n = (size_t)r->summary.loops;
  weir_loop_info *loops = realloc(r->loops, (n + 1) * sizeof *loops);
  char *seed = NULL;
  if (loops) r->loops = loops;
  if (!loops || copy_text(c, &seed, info->seed, strlen(info->seed)) != WEIR_OK)
    return ctx_error(c, WEIR_RESOURCE_EXHAUSTED, "out of memory for a result");
  loops[n] = *info;
  loops[n].struct_size = sizeof *info;
  loops[n].seed = seed;
  r->summary.loops++;
  return WEIR_OK;
}

weir_outcome weir_result_outcome(const weir_result *r) { return r->outcome; }
const char *weir_result_text(const weir_result *r, size_t *out_length) {
  return *out_length = r->length, r->text;
}
const char *const *weir_result_compile_options(const weir_result *r) { return r->compile_options; }
const char *weir_result_message(const weir_result *r) { return r->message; }
const char *weir_result_explain(const weir_result *r) { return r->explain ? r->explain : ""; }

const char *weir_result_data(const weir_result *r) { return r->data ? r->data : ""; }

const char *weir_result_trace(const weir_result *r) { return r->trace ? r->trace : ""; }

void weir_result_summary(const weir_result *r, weir_summary *out) {
  size_t size = out->struct_size < sizeof *out ? out->struct_size : sizeof *out;
  memcpy(out, &r->summary, size);
  out->struct_size = size;
}

bool weir_result_loop(const weir_result *r, int32_t index, weir_loop_info *out) {
  if (index < 0 || index >= r->summary.loops) return false;
  size_t size = out->struct_size < sizeof *out ? out->struct_size : sizeof *out;
  memcpy(out, &r->loops[index], size);
  out->struct_size = size;
  return true;
}
