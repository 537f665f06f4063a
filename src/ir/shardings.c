#include "ir/shardings.h"

#include <stdlib.h>

#include "base/saturate.h"

const char *ir_sharding_find(const char *text, int depth, char c, uint32_t n) {
  bool quoted = false;
  for (int at = 0; text && *text; text++) {
    if (*text == '"') quoted = !quoted;
    if (quoted) continue;
    if (at == depth && *text == c && n-- == 0) return text;
    at += (*text == '<') - (*text == '>');
    if (at < depth && *text == '>') return NULL;
  }
  return NULL;
}

const char *ir_sharding_text(const ir_module *m, ir_attr attr) {
  const ir_attr_data *d = ir_attr_get(m, attr);
  return attr && d->kind == IR_ATTR_OTHER ? ir_text(m, d->text) : NULL;
}

const char *ir_sharding_of(const ir_module *m, ir_op op, const char *name, uint32_t index) {
  return ir_sharding_find(ir_sharding_text(m, ir_op_attr(m, op, name)), 1, '<', index);
}

size_t ir_sharding_length(const char *sharding) {
  const char *end = ir_sharding_find(sharding, 1, '>', 0);
  return end ? (size_t)(end + 1 - sharding) : 0;
}

/* Every scan ends at the NUL. */
static const char *end_of(const char *text, char close) {
  bool quoted = false;
  for (; text && *text; text++) {
    if (*text == '"') quoted = !quoted;
    if (!quoted && *text == close) return text;
  }
  return NULL;
}

const char *ir_sharding_dim(const char *sharding, int32_t dim, const char **out_end) {
  const char *p = ir_sharding_find(sharding, 1, '[', 0);
  for (int32_t d = 0; p; d++) {
    const char *open = end_of(p, '{'), *stop = end_of(p, ']'), *close = end_of(open, '}');
    if (!close || !stop || stop < open) return NULL;
    p = close + 1;
    if (*p == 'p') p += 1 + strspn(p + 1, "0123456789");
    *out_end = p;
    if (d == dim) return open;
  }
  return NULL;
}

/* ---- the sharding of a value ---- */
static const char *of_argument(const ir_module *m, ir_op function, uint32_t index) {
  ir_attr list = ir_op_attr(m, function, "arg_attrs");
  if (!list || !ir_attr_get(m, list)->items || index >= (uint32_t)ir_attr_get(m, list)->count)
    return NULL;
  ir_attr sharding = ir_dict_get(m, ir_attr_get(m, list)->items[index], "sdy.sharding");
  return sharding ? ir_sharding_find(ir_sharding_text(m, sharding), 0, '<', 0) : NULL;
}

const char *ir_value_sharding(const ir_module *m, ir_value v) {
  const ir_value_data *d = ir_value_get(m, v);
  ir_op op = d->op ? d->op : ir_block_get(m, d->block)->parent;
  switch (ir_kind_of(m, op)) {
    case IR_OP_FUNC: return of_argument(m, op, d->index);
    case IR_OP_SDY_SHARDING_CONSTRAINT:
      return ir_sharding_find(ir_sharding_text(m, ir_op_attr(m, op, "sharding")), 0, '<', 0);
    case IR_OP_SDY_MANUAL_COMPUTATION:
      return ir_sharding_of(m, op, d->op ? "out_shardings" : "in_shardings", d->index);
    case IR_OP_WHILE: return ir_sharding_of(m, op, "sdy.sharding", d->index); /* arguments too */
    default: return d->op ? ir_sharding_of(m, op, "sdy.sharding", d->index) : NULL;
  }
}

/* ---- meshes and their axes ---- */
const char *ir_sharding_mesh(const ir_module *m, const char *sharding) {
  if (!sharding || sharding[1] != '@') return NULL;
  const char *name = sharding + 2;
  size_t length = strcspn(name, ",>");
  for (ir_op op, i = 0; (op = ir_op_at(m, ir_top(m), i)); i++) {
    const char *own = ir_kind_of(m, op) == IR_OP_SDY_MESH ? ir_op_string(m, op, "sym_name") : NULL;
    if (own && strlen(own) == length && !memcmp(own, name, length))
      return ir_op_string(m, op, "mesh");
  }
  return NULL;
}

int64_t ir_axes_devices(const ir_axes *axes) {
  int64_t devices = 1;
  for (int32_t i = 0; i < axes->n; i++) devices = saturated_product(devices, axes->at[i].size);
  return devices;
}

bool ir_axes_equal(const ir_axes *a, const ir_axes *b) {
  bool equal = a->n == b->n;
  for (int32_t i = 0; equal && i < a->n; i++)
    equal = a->at[i].size == b->at[i].size && a->at[i].stride == b->at[i].stride;
  return equal;
}

/* The next quoted name from *p on, which goes behind it; NULL: there is none before `end`. */
static const char *next_name(const char **p, const char *end) {
  const char *open = memchr(*p, '"', (size_t)(end - *p));
  const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
  if (close) *p = close + 1;
  return close ? open : NULL;
}

bool ir_axes_of_mesh(const char *mesh, ir_axes *out) {
  *out = (ir_axes){0};
  const char *p = mesh, *end = mesh ? end_of(mesh, ']') : NULL;
  if (!end) return false;
  for (const char *name; (name = next_name(&p, end)); out->n++) {
    if (out->n == IR_MOST_AXES || *p != '=') return false;
    out->at[out->n] = (ir_axis){name, (int32_t)(p - name), strtoll(p + 1, NULL, 10), 1};
    if (out->at[out->n].size < 1) return false;
  }
  for (int32_t i = out->n - 1; i-- > 0;)
    out->at[i].stride = saturated_product(out->at[i + 1].stride, out->at[i + 1].size);
  return true;
}

/* "x":(2)4 is the part of x that has 4 indices, outside of which there are 2. */
static bool narrow_to_part(ir_axis *axis, const char **p) {
  char *rest;
  if (**p != ':') return true;
  int64_t outside = strtoll(*p + 2, &rest, 10);
  int64_t size = *rest == ')' ? strtoll(rest + 1, &rest, 10) : 0;
  if (outside < 1 || size < 1 || axis->size % outside || axis->size / outside % size) return false;
  axis->stride *= axis->size / outside / size;
  axis->size = size;
  axis->length = (int32_t)(rest - axis->text);
  *p = rest;
  return true;
}

static const ir_axis *find_axis(const ir_axes *mesh, const char *name, size_t length) {
  for (int32_t i = 0; i < mesh->n; i++)
    if ((size_t)mesh->at[i].length == length && !memcmp(mesh->at[i].text, name, length))
      return &mesh->at[i];
  return NULL;
}

bool ir_axes_named(const ir_axes *mesh, const char *from, const char *end, ir_axes *out) {
  *out = (ir_axes){0};
  const char *p = from;
  for (const char *name; (name = next_name(&p, end)); out->n++) {
    const ir_axis *whole = find_axis(mesh, name, (size_t)(p - name));
    if (!whole || out->n == IR_MOST_AXES) return false;
    ir_axis *axis = &out->at[out->n];
    *axis = *whole;
    axis->text = name;
    if (!narrow_to_part(axis, &p)) return false;
  }
  return true;
}

ir_value ir_build_sharding_constraint(ir_module *m, ir_block block, ir_value x,
                                      const char *sharding) {
  ir_named_attr attr = ir_property(m, "sharding", ir_attr_other(m, sharding));
  return ir_build(&(ir_builder){m, block, IR_NONE}, IR_OP_SDY_SHARDING_CONSTRAINT, 1, &x,
                  ir_type_of(m, x), 1, &attr);
}
