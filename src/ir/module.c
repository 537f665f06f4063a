/* The module's tables: interning, types, attributes, ops, values, blocks. */
#include <stdio.h>

#include "ir/attrs.h"
#include "ir/fold.h"
#include "ir/ir.h"

#include "base/hash.h"
#include "base/saturate.h"

/* ---- the op and dtype tables ---- */
static const struct op_row {
  const char *name;
  int flags, types;
} op_rows[IR_OP_COUNT] = {
    [IR_OP_UNKNOWN] = {"?", IR_FLAG_X},
#define R IR_FLAG_R
#define X IR_FLAG_X
#define T IR_FLAG_T
#define E IR_FLAG_E
#define H IR_FLAG_H
#define M IR_FLAG_M
#define O IR_FLAG_O
#define N IR_FLAG_N
#define S IR_FLAG_S
#define B (1 << IR_CLASS_BOOL)
#define I (1 << IR_CLASS_INT)
#define U (1 << IR_CLASS_UINT)
#define F (1 << IR_CLASS_FLOAT)
#define C (1 << IR_CLASS_COMPLEX)
#define A (B | I | U | F | C)
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  [IR_OP_##kind] = {name, flags, types},
#include "ir/ops.def"
#undef OP
#undef R
#undef X
#undef T
#undef E
#undef H
#undef M
#undef O
#undef N
#undef S
#undef B
#undef I
#undef U
#undef F
#undef C
#undef A
};

static const struct dtype_row {
  const char *name;
  int bits;
  ir_dtype_class cls;
} dtype_rows[IR_DTYPE_COUNT] = {
    [IR_DTYPE_NONE] = {"?", 0, IR_CLASS_NONE},
#define DTYPE(name, text, bits, cls) [IR_##name] = {text, bits, IR_CLASS_##cls},
#include "ir/dtypes.def"
#undef DTYPE
};

const char *ir_kind_name(ir_kind kind) { return op_rows[kind].name; }
int ir_kind_flags(ir_kind kind) { return op_rows[kind].flags; }
int ir_kind_types(ir_kind kind) { return op_rows[kind].types; }
const char *ir_dtype_name(ir_dtype d) { return dtype_rows[d].name; }
int64_t ir_dtype_bytes(ir_dtype d) { return dtype_rows[d].bits / 8; }
ir_dtype_class ir_dtype_class_of(ir_dtype d) { return dtype_rows[d].cls; }

int ir_dtype_bits(ir_dtype d) {
  static const int small[IR_DTYPE_COUNT] = {
      [IR_I1] = 1,  [IR_I2] = 2,       [IR_UI2] = 2,      [IR_I4] = 4,
      [IR_UI4] = 4, [IR_F4E2M1FN] = 4, [IR_F6E2M3FN] = 6, [IR_F6E3M2FN] = 6};
  return small[d] ? small[d] : dtype_rows[d].bits;
}

int64_t ir_lowest(ir_dtype d) { return ir_is_signed(d) ? -ir_highest(d) - 1 : 0; }
int64_t ir_highest(ir_dtype d) {
  int bits = ir_dtype_bits(d) - ir_is_signed(d);
  return bits < 63 ? ((int64_t)1 << bits) - 1 : INT64_MAX;
}

ir_dtype ir_dtype_find(const char *name, size_t length) {
  for (int d = 1; d < IR_DTYPE_COUNT; d++)
    if (!strncmp(dtype_rows[d].name, name, length) && !dtype_rows[d].name[length])
      return (ir_dtype)d;
  return IR_DTYPE_NONE;
}

/* The names are grouped by dialect but not sorted; a linear scan that rejects on the length and the
 * last character first is fast enough for the few hundred distinct names that a module holds
 * (readers look a name up once per interned string). */
ir_kind ir_kind_find(const char *name, size_t length) {
  for (int k = 1; k < IR_OP_COUNT; k++) {
    const char *row = op_rows[k].name;
    if (strlen(row) == length && row[length - 1] == name[length - 1] && !memcmp(row, name, length))
      return (ir_kind)k;
  }
  return IR_OP_UNKNOWN;
}

ir_kind ir_explicit_kind(ir_kind kind) {
  static const char prefix[] = "chlo.broadcast_";
  const char *name = ir_kind_name(kind), *const dialects[] = {"stablehlo.", "chlo."};
  ir_kind found = IR_OP_UNKNOWN;
  if (!name || strncmp(name, prefix, sizeof prefix - 1)) return IR_OP_UNKNOWN;
  for (size_t i = 0; i < 2 && !found; i++) {
    char plain[64];
    int n = snprintf(plain, sizeof plain, "%s%s", dialects[i], name + sizeof prefix - 1);
    found = ir_kind_find(plain, (size_t)n);
  }
  return found;
}

/* ---- interning: one open-addressing table of (hash, id) each for strings and types ---- */
typedef struct table {
  uint32_t *ids, *hashes;
  uint32_t count, room;
} table;

struct ir_intern {
  table strs, types;
};

static void table_insert(table *t, uint32_t hash, uint32_t id) {
  uint32_t i = hash & (t->room - 1);
  while (t->ids[i]) i = (i + 1) & (t->room - 1);
  t->ids[i] = id;
  t->hashes[i] = hash;
  t->count++;
}

static void table_reserve(arena *a, table *t) {
  if (t->room && t->count * 2 < t->room) return;
  table bigger = {.room = t->room ? t->room * 2 : 256};
  bigger.ids = ARENA_ARRAY(a, uint32_t, bigger.room);
  bigger.hashes = ARENA_ARRAY(a, uint32_t, bigger.room);
  for (uint32_t i = 0; i < t->room; i++)
    if (t->ids[i]) table_insert(&bigger, t->hashes[i], t->ids[i]);
  *t = bigger;
}

ir_str ir_intern_text(ir_module *m, const char *text, size_t length) {
  if (length == 0) return IR_NONE;
  CTX_CHECK(m->ctx, length <= UINT32_MAX);
  table *t = &m->intern->strs;
  table_reserve(m->arena, t);
  uint32_t hash = hash_bytes(HASH_BEGIN, text, length);
  for (uint32_t i = hash & (t->room - 1); t->ids[i]; i = (i + 1) & (t->room - 1)) {
    ir_str id = t->ids[i];
    if (t->hashes[i] == hash && m->strs.at[id].length == length &&
        !memcmp(m->strs.at[id].text, text, length))
      return id;
  }
  ir_str id = m->strs.count;
  VEC_PUSH(m->arena, &m->strs,
           (__typeof__(*m->strs.at)){arena_strdup(m->arena, text, length), (uint32_t)length});
  table_insert(t, hash, id);
  return id;
}

/* ---- types ---- */
static uint32_t type_hash(const ir_type_data *d) {
  uint32_t key[8] = {d->kind,
                     d->dtype,
                     (uint32_t)d->rank,
                     (uint32_t)d->n_types,
                     (uint32_t)d->n_results,
                     d->element_text,
                     d->encoding,
                     d->text};
  uint32_t h = hash_bytes(HASH_BEGIN, key, sizeof key);
  if (d->rank > 0) h = h * 31 + hash_bytes(HASH_BEGIN, d->dims, (size_t)d->rank * sizeof *d->dims);
  if (d->n_types + d->n_results > 0)
    h = h * 31 +
        hash_bytes(HASH_BEGIN, d->types, (size_t)(d->n_types + d->n_results) * sizeof *d->types);
  return h;
}

static bool type_equal(const ir_type_data *a, const ir_type_data *b) {
  size_t n = (size_t)(a->n_types + a->n_results);
  return a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank &&
         a->n_types == b->n_types && a->n_results == b->n_results &&
         a->element_text == b->element_text && a->encoding == b->encoding && a->text == b->text &&
         (a->rank == 0 || !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims)) &&
         (n == 0 || !memcmp(a->types, b->types, n * sizeof *a->types));
}

static int64_t element_count(const ir_type_data *d) {
  int64_t n = 1;
  for (int32_t i = 0; i < d->rank; i++)
    if (d->dims[i] == 0) return 0;
  for (int32_t i = 0; i < d->rank; i++)
    if (d->dims[i] > 0 && __builtin_mul_overflow(n, d->dims[i], &n)) return INT64_MAX;
  return n;
}

static int64_t type_bytes(const ir_module *m, const ir_type_data *d) {
  int64_t bytes = 0;
  if (d->kind == IR_TYPE_TENSOR) {
    int64_t width = d->dtype ? ir_dtype_bytes(d->dtype) : 1;
    bytes = saturated_product(d->elements, width);
  } else if (d->kind == IR_TYPE_TUPLE) {
    for (int32_t i = 0; i < d->n_types; i++)
      bytes = saturated_sum(bytes, ir_type_bytes(m, d->types[i]));
  }
  return bytes;
}

ir_type ir_type_intern(ir_module *m, const ir_type_data *data) {
  table *t = &m->intern->types;
  table_reserve(m->arena, t);
  uint32_t hash = type_hash(data);
  for (uint32_t i = hash & (t->room - 1); t->ids[i]; i = (i + 1) & (t->room - 1))
    if (t->hashes[i] == hash && type_equal(&m->types.at[t->ids[i]], data)) return t->ids[i];
  ir_type_data copy =
      *data; /* its lists are never NULL and never the caller's, not even empty ones */
  copy.dims = ARENA_COPY(m->arena, int64_t, data->dims, (size_t)data->rank);
  copy.types =
      ARENA_COPY(m->arena, ir_type, data->types, (size_t)(data->n_types + data->n_results));
  copy.elements = element_count(&copy);
  copy.bytes = type_bytes(m, &copy);
  ir_type id = m->types.count;
  VEC_PUSH(m->arena, &m->types, copy);
  table_insert(t, hash, id);
  return id;
}

ir_type ir_tensor(ir_module *m, ir_dtype dtype, int32_t rank, const int64_t *dims) {
  return ir_type_intern(
      m, &(ir_type_data){.kind = IR_TYPE_TENSOR, .dtype = dtype, .rank = rank, .dims = dims});
}

ir_type ir_scalar(ir_module *m, ir_dtype dtype) { return ir_tensor(m, dtype, 0, NULL); }

ir_type ir_attr_scalar(ir_module *m, ir_dtype dtype) {
  return ir_type_intern(m, &(ir_type_data){.kind = IR_TYPE_SCALAR, .dtype = dtype});
}

ir_type ir_tensor_with_dtype(ir_module *m, ir_type t, ir_dtype dtype) {
  ir_type_data d = *ir_type_get(m, t);
  CTX_CHECK(m->ctx, d.kind == IR_TYPE_TENSOR && dtype != IR_DTYPE_NONE);
  d.dtype = dtype;
  return ir_type_intern(m, &d);
}

ir_type ir_tensor_with_dim(ir_module *m, ir_type t, int32_t dim, int64_t size) {
  ir_type_data d = *ir_type_get(m, t);
  CTX_CHECK(m->ctx, d.kind == IR_TYPE_TENSOR && dim >= 0 && dim < d.rank);
  int64_t dims[IR_MAX_RANK];
  memcpy(dims, d.dims, (size_t)d.rank * sizeof *dims);
  dims[dim] = size;
  d.dims = dims;
  return ir_type_intern(m, &d);
}

ir_type ir_tensor_stacked(ir_module *m, ir_type t, int64_t count) {
  const ir_type_data *d = ir_type_get(m, t);
  CTX_CHECK(m->ctx, d->kind == IR_TYPE_TENSOR && d->rank < IR_MAX_RANK);
  int64_t dims[IR_MAX_RANK] = {count};
  memcpy(dims + 1, d->dims, (size_t)d->rank * sizeof *dims);
  return ir_tensor(m, d->dtype, d->rank + 1, dims);
}

ir_type ir_tensor_without_dim(ir_module *m, ir_type t, int64_t dim) {
  const ir_type_data *d = ir_type_get(m, t);
  int64_t dims[IR_MAX_RANK];
  CTX_CHECK(m->ctx, d->kind == IR_TYPE_TENSOR && dim >= 0 && dim < d->rank);
  for (int32_t i = 0, n = 0; i < d->rank; i++)
    if (i != dim) dims[n++] = d->dims[i];
  return ir_tensor(m, d->dtype, d->rank - 1, dims);
}

bool ir_next_same_dim(const ir_type_data *from, const ir_type_data *to, int32_t *i, int32_t *j) {
  while (*i < from->rank && from->dims[*i] == 1) ++*i;
  while (*j < to->rank && to->dims[*j] == 1) ++*j;
  return *i < from->rank && *j < to->rank && from->dims[*i] == to->dims[*j];
}

bool ir_same_dims(const ir_type_data *a, const ir_type_data *b) {
  if (a->rank != b->rank) return false;
  for (int32_t d = 0; d < a->rank; d++)
    if (a->dims[d] != b->dims[d]) return false;
  return true;
}

int32_t ir_longest_dim(const ir_type_data *t) {
  int32_t longest = 0;
  for (int32_t d = 1; d < t->rank; d++)
    if (t->dims[d] > t->dims[longest]) longest = d;
  return longest;
}

bool ir_is_static_tensor(const ir_module *m, ir_type t) {
  const ir_type_data *d = ir_type_get(m, t);
  if (d->kind != IR_TYPE_TENSOR || d->dtype == IR_DTYPE_NONE || d->encoding) return false;
  for (int32_t i = 0; i < d->rank; i++)
    if (d->dims[i] < 0) return false;
  return true;
}

/* ---- attributes ---- */
int64_t ir_dense_bytes(const ir_module *m, const ir_attr_data *d) {
  return d->splat ? ir_dtype_bytes(ir_type_get(m, d->type)->dtype) : ir_type_bytes(m, d->type);
}

static const ir_dot_numbers *dot_of(const ir_module *m, const ir_attr_data *d) {
  return d->kind == IR_ATTR_OTHER ? ir_decode_dot(m->arena, ir_text(m, d->text)) : NULL;
}

ir_attr ir_attr_new(ir_module *m, const ir_attr_data *data) {
  ir_attr_data copy = *data;
  arena *a = m->arena;
  CTX_CHECK(m->ctx, data->count >= 0);
  size_t n = (size_t)data->count;
  if (data->ints) copy.ints = ARENA_COPY(a, int64_t, data->ints, n);
  if (data->items) copy.items = ARENA_COPY(a, ir_attr, data->items, n);
  if (data->entries) copy.entries = ARENA_COPY(a, ir_named_attr, data->entries, n);
  if (data->data) copy.data = arena_copy(a, data->data, (size_t)ir_dense_bytes(m, data));
  copy.dot = dot_of(m, data);
  ir_attr id = m->attrs.count;
  VEC_PUSH(a, &m->attrs, copy);
  return id;
}

static bool items_equal(const ir_module *m, const ir_attr_data *a, const ir_attr_data *b) {
  for (int32_t i = 0; i < a->count; i++)
    if (!ir_attr_equal(m, a->items[i], b->items[i])) return false;
  return true;
}

static bool entries_equal(const ir_module *m, const ir_attr_data *a, const ir_attr_data *b) {
  for (int32_t i = 0; i < a->count; i++)
    if (a->entries[i].name != b->entries[i].name ||
        !ir_attr_equal(m, a->entries[i].value, b->entries[i].value))
      return false;
  return true;
}

bool ir_attr_equal(const ir_module *m, ir_attr x, ir_attr y) {
  if (x == y) return true;
  const ir_attr_data *a = ir_attr_get(m, x), *b = ir_attr_get(m, y);
  if (a->kind != b->kind || a->type != b->type || a->count != b->count || a->splat != b->splat ||
      a->text != b->text)
    return false;
  switch (a->kind) {
    case IR_ATTR_BOOL: return a->boolean == b->boolean;
    case IR_ATTR_INT: return a->integer == b->integer;
    case IR_ATTR_FLOAT: return !memcmp(&a->real, &b->real, sizeof a->real);
    case IR_ATTR_I64S:
    case IR_ATTR_BOOLS:
      return !a->count || !memcmp(a->ints, b->ints, (size_t)a->count * sizeof *a->ints);
    case IR_ATTR_ARRAY: return items_equal(m, a, b);
    case IR_ATTR_DICT: return entries_equal(m, a, b);
    case IR_ATTR_DENSE: {
      size_t n = (size_t)ir_dense_bytes(m, a);
      return !n || !memcmp(a->data, b->data, n);
    }
    default: return true; /* told apart by type and text */
  }
}

bool ir_attrs_equal(const ir_module *m, ir_op x, ir_op y) {
  const ir_op_data *a = ir_op_get(m, x), *b = ir_op_get(m, y);
  if (a->n_attrs != b->n_attrs) return false;
  for (uint32_t i = 0; i < a->n_attrs; i++)
    if (a->attrs[i].name != b->attrs[i].name ||
        !ir_attr_equal(m, a->attrs[i].value, b->attrs[i].value))
      return false;
  return true;
}

ir_attr ir_attr_int(ir_module *m, int64_t value, ir_dtype dtype) {
  return ir_attr_new(
      m, &(ir_attr_data){.kind = IR_ATTR_INT, .type = ir_attr_scalar(m, dtype), .integer = value});
}

ir_attr ir_attr_bool(ir_module *m, bool value) {
  return ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_BOOL, .boolean = value});
}

ir_attr ir_attr_i64s(ir_module *m, const int64_t *values, int32_t count) {
  static const int64_t nothing = 0;
  return ir_attr_new(
      m, &(ir_attr_data){.kind = IR_ATTR_I64S, .count = count, .ints = count ? values : &nothing});
}

ir_attr ir_attr_string(ir_module *m, const char *text) {
  return ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_STRING, .text = ir_intern_string(m, text)});
}

ir_attr ir_attr_other(ir_module *m, const char *text) {
  return ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_OTHER, .text = ir_intern_string(m, text)});
}

ir_attr ir_attr_dense(ir_module *m, ir_type type, const void *data, bool splat) {
  return ir_attr_new(
      m, &(ir_attr_data){.kind = IR_ATTR_DENSE, .type = type, .data = data, .splat = splat});
}

ir_attr ir_op_attr(const ir_module *m, ir_op o, const char *name) {
  const ir_op_data *d = ir_op_get(m, o);
  for (uint32_t i = 0; i < d->n_attrs; i++)
    if (!strcmp(ir_text(m, d->attrs[i].name), name)) return d->attrs[i].value;
  return IR_NONE;
}

ir_attr ir_dict_get(const ir_module *m, ir_attr dict, const char *name) {
  const ir_attr_data *d = dict ? ir_attr_get(m, dict) : NULL;
  for (int32_t i = 0; d && d->kind == IR_ATTR_DICT && i < d->count; i++)
    if (!strcmp(ir_text(m, d->entries[i].name), name)) return d->entries[i].value;
  return IR_NONE;
}

ir_attr ir_argument_attr(const ir_module *m, ir_op function, uint32_t index, const char *name) {
  ir_attr attrs = ir_op_attr(m, function, "arg_attrs");
  const ir_attr_data *list = attrs ? ir_attr_get(m, attrs) : NULL;
  bool has = list && list->items && (int64_t)index < list->count;
  return has ? ir_dict_get(m, list->items[index], name) : IR_NONE;
}

const ir_attr_data *ir_op_attr_of(const ir_module *m, ir_op o, const char *name,
                                  ir_attr_kind kind) {
  ir_attr a = ir_op_attr(m, o, name);
  return a && ir_attr_get(m, a)->kind == kind ? ir_attr_get(m, a) : NULL;
}

int64_t ir_op_int(const ir_module *m, ir_op o, const char *name, int64_t otherwise) {
  const ir_attr_data *d = ir_op_attr_of(m, o, name, IR_ATTR_INT);
  return d ? d->integer : otherwise;
}

bool ir_op_bool(const ir_module *m, ir_op o, const char *name, bool otherwise) {
  const ir_attr_data *d = ir_op_attr_of(m, o, name, IR_ATTR_BOOL);
  return d ? d->boolean : otherwise;
}

static int64_t dense_int(const ir_attr_data *d, ir_dtype dtype, int64_t i) {
  int64_t x = 0;
  (void)ir_load_int(dtype, (const char *)d->data + (d->splat ? 0 : i * ir_dtype_bytes(dtype)), &x);
  return x;
}

static const int64_t *dense_ints(ir_module *m, const ir_attr_data *d, int32_t *out_count) {
  ir_dtype dtype = ir_type_get(m, d->type)->dtype;
  ir_dtype_class cls = ir_dtype_class_of(dtype);
  int64_t n = ir_element_count(m, d->type);
  if (cls == IR_CLASS_FLOAT || cls == IR_CLASS_COMPLEX || cls == IR_CLASS_NONE || n > INT32_MAX)
    return NULL;
  int64_t *ints = ARENA_ARRAY(m->arena, int64_t, (size_t)n + 1);
  for (int64_t i = 0; i < n; i++) ints[i] = dense_int(d, dtype, i);
  *out_count = (int32_t)n;
  return ints;
}

static const int64_t *array_ints(ir_module *m, const ir_attr_data *d, int32_t *out_count) {
  int64_t *ints = ARENA_ARRAY(m->arena, int64_t, (size_t)d->count + 1);
  for (int32_t i = 0; i < d->count; i++) {
    const ir_attr_data *item = ir_attr_get(m, d->items[i]);
    if (item->kind != IR_ATTR_INT) return NULL;
    ints[i] = item->integer;
  }
  *out_count = d->count;
  return ints;
}

const int64_t *ir_op_ints(ir_module *m, ir_op o, const char *name, int32_t *out_count) {
  ir_attr a = ir_op_attr(m, o, name);
  *out_count = -1;
  if (!a) return NULL;
  const ir_attr_data *d = ir_attr_get(m, a);
  switch (d->kind) {
    case IR_ATTR_I64S:
    case IR_ATTR_BOOLS: return *out_count = d->count, d->ints;
    case IR_ATTR_DENSE: return dense_ints(m, d, out_count);
    case IR_ATTR_ARRAY: return array_ints(m, d, out_count);
    default: return NULL;
  }
}

const char *ir_op_string(const ir_module *m, ir_op o, const char *name) {
  ir_attr a = ir_op_attr(m, o, name);
  if (!a) return NULL;
  const ir_attr_data *d = ir_attr_get(m, a);
  bool has_text =
      d->kind == IR_ATTR_STRING || d->kind == IR_ATTR_SYMBOL || d->kind == IR_ATTR_OTHER;
  return has_text ? ir_text(m, d->text) : NULL;
}

void ir_op_set_attr(ir_module *m, ir_op o, const char *name, ir_attr value, bool property) {
  CTX_CHECK(m->ctx, value && value < m->attrs.count);
  ir_op_data *d = ir_op_get(m, o);
  ir_named_attr attr = {ir_intern_string(m, name), value, property};
  for (uint32_t i = 0; i < d->n_attrs; i++)
    if (d->attrs[i].name == attr.name) {
      d->attrs[i] = attr;
      return;
    }
  ir_named_attr *attrs = ARENA_ARRAY(m->arena, ir_named_attr, d->n_attrs + 1);
  if (d->n_attrs) memcpy(attrs, d->attrs, d->n_attrs * sizeof *attrs);
  attrs[d->n_attrs++] = attr;
  d->attrs = attrs;
}

void ir_op_drop_attr(ir_module *m, ir_op o, const char *name) {
  ir_op_data *d = ir_op_get(m, o);
  ir_named_attr *kept = ARENA_ARRAY(m->arena, ir_named_attr, d->n_attrs + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->n_attrs; i++)
    if (strcmp(ir_text(m, d->attrs[i].name), name)) kept[n++] = d->attrs[i];
  d->attrs = kept;
  d->n_attrs = n;
}

/* ---- modules ---- */
static ir_module *module_bare(ctx *c) {
  arena *a = arena_create(c);
  ir_module *m = ARENA_NEW(a, ir_module);
  m->ctx = c;
  m->arena = a;
  m->intern = ARENA_NEW(a, ir_intern);
  return m;
}

ir_module *ir_module_create(ctx *c) {
  ir_module *m = module_bare(c);
  arena *a = m->arena;
  VEC_PUSH(a, &m->strs, (__typeof__(*m->strs.at)){"", 0});
  VEC_PUSH(a, &m->types, (ir_type_data){.kind = IR_TYPE_OTHER, .elements = 1});
  VEC_PUSH(a, &m->attrs, (ir_attr_data){0});
  VEC_PUSH(a, &m->values, (ir_value_data){0});
  VEC_PUSH(a, &m->ops, (ir_op_data){0});
  VEC_PUSH(a, &m->blocks, (ir_block_data){0});
  m->root = ir_op_new(m, IR_NONE, &(ir_op_desc){.kind = IR_OP_MODULE, .n_regions = 1});
  ir_region_block(m, m->root, 0);
  return m;
}

void ir_module_destroy(ir_module *m) {
  if (m) arena_destroy(m->arena);
}

#define COPY_VEC(a, to, from)                                                                      \
  do {                                                                                             \
    (to)->count = (to)->room = (from)->count;                                                      \
    (to)->at = arena_copy((a), (from)->at, (size_t)(from)->count * sizeof *(from)->at);            \
  } while (0)

static void copy_table(arena *a, table *to, const table *from) {
  *to = *from;
  to->ids = ARENA_COPY(a, uint32_t, from->ids, from->room);
  to->hashes = ARENA_COPY(a, uint32_t, from->hashes, from->room);
}

/* The clone has tables and mutable parts of its own. Immutable data (texts, dims, constants) would
 * outlive the original only if copied, so it is. */
static void copy_payloads(arena *a, ir_module *m) {
  for (uint32_t i = 1; i < m->strs.count; i++)
    m->strs.at[i].text = arena_strdup(a, m->strs.at[i].text, m->strs.at[i].length);
  for (uint32_t i = 1; i < m->types.count; i++) {
    ir_type_data *t = &m->types.at[i];
    t->dims = ARENA_COPY(a, int64_t, t->dims, (size_t)t->rank);
    t->types = ARENA_COPY(a, ir_type, t->types, (size_t)(t->n_types + t->n_results));
  }
  for (uint32_t i = 1; i < m->attrs.count; i++) {
    ir_attr_data *d = &m->attrs.at[i];
    if (d->ints) d->ints = ARENA_COPY(a, int64_t, d->ints, (size_t)d->count);
    if (d->items) d->items = ARENA_COPY(a, ir_attr, d->items, (size_t)d->count);
    if (d->entries) d->entries = ARENA_COPY(a, ir_named_attr, d->entries, (size_t)d->count);
    if (d->data) d->data = arena_copy(a, d->data, (size_t)ir_dense_bytes(m, d));
    d->dot = dot_of(m, d);
  }
}

static void copy_tables(ir_module *m, const ir_module *from) {
  arena *a = m->arena;
  COPY_VEC(a, &m->strs, &from->strs);
  COPY_VEC(a, &m->types, &from->types);
  COPY_VEC(a, &m->attrs, &from->attrs);
  copy_table(a, &m->intern->strs, &from->intern->strs);
  copy_table(a, &m->intern->types, &from->intern->types);
}

ir_module *ir_module_borrow(const ir_module *from) {
  ir_module *m = ir_module_create(from->ctx);
  copy_tables(m, from);
  return m;
}

ir_module *ir_module_clone(const ir_module *from) {
  ir_module *m = module_bare(from->ctx);
  arena *a = m->arena;
  m->root = from->root;
  copy_tables(m, from);
  COPY_VEC(a, &m->values, &from->values);
  COPY_VEC(a, &m->ops, &from->ops);
  COPY_VEC(a, &m->blocks, &from->blocks);
  copy_payloads(a, m);
  m->ctx->looked_at += m->ops.count;
  for (uint32_t i = 1; i < m->ops.count; i++) {
    ir_op_data *o = &m->ops.at[i];
    o->operands = ARENA_COPY(a, ir_value, o->operands, o->n_operands);
    o->attrs = ARENA_COPY(a, ir_named_attr, o->attrs, o->n_attrs);
    o->regions = ARENA_COPY(a, ir_block, o->regions, o->n_regions);
  }
  for (uint32_t i = 1; i < m->blocks.count; i++) {
    COPY_VEC(a, &m->blocks.at[i].args, &from->blocks.at[i].args);
    COPY_VEC(a, &m->blocks.at[i].ops, &from->blocks.at[i].ops);
  }
  return m;
}

ir_module *ir_module_compacted(ir_module *m) {
  ctx *c = m->ctx;
  int64_t looked_at = c->looked_at;
  ir_module *copy = ir_module_clone(m);
  c->looked_at = looked_at; /* no search depends on it */
  ir_module_destroy(m);
  return copy;
}

/* ---- ops, values, blocks ---- */
const char *ir_mnemonic(const char *name) {
  const char *dot = strchr(name, '.');
  return dot ? dot + 1 : name;
}

const char *ir_op_name(const ir_module *m, ir_op o) {
  const ir_op_data *d = ir_op_get(m, o);
  return d->kind == IR_OP_UNKNOWN ? ir_text(m, d->name) : ir_kind_name((ir_kind)d->kind);
}

ir_op_desc ir_op_desc_of(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  return (ir_op_desc){.kind = (ir_kind)d->kind,
                      .name = ir_text(m, d->name),
                      .n_operands = d->n_operands,
                      .operands = d->operands,
                      .n_results = d->n_results,
                      .n_attrs = d->n_attrs,
                      .attrs = d->attrs,
                      .n_regions = d->n_regions,
                      .location = d->location};
}

ir_op ir_op_new(ir_module *m, ir_block block, const ir_op_desc *desc) {
  arena *a = m->arena;
  ir_op id = m->ops.count;
  ir_op_data d = {.kind = (uint16_t)desc->kind,
                  .n_operands = desc->n_operands,
                  .n_results = desc->n_results,
                  .n_attrs = desc->n_attrs,
                  .n_regions = desc->n_regions,
                  .first_result = m->values.count,
                  .location = desc->location};
  if (desc->kind == IR_OP_UNKNOWN) d.name = ir_intern_string(m, desc->name);
  d.operands = ARENA_COPY(a, ir_value, desc->operands, desc->n_operands);
  d.attrs = ARENA_COPY(a, ir_named_attr, desc->attrs, desc->n_attrs);
  d.regions = ARENA_ARRAY(a, ir_block, desc->n_regions);
  VEC_PUSH(a, &m->ops, d);
  for (uint32_t i = 0; i < desc->n_results; i++)
    VEC_PUSH(a, &m->values, (ir_value_data){.type = desc->result_types[i], .op = id, .index = i});
  if (block) ir_block_append(m, block, id);
  return id;
}

ir_block ir_block_new(ir_module *m) {
  VEC_PUSH(m->arena, &m->blocks, (ir_block_data){0});
  return m->blocks.count - 1;
}

void ir_region_set(ir_module *m, ir_op op, uint32_t region, ir_block block) {
  m->blocks.at[block].parent = op;
  m->ops.at[op].regions[region] = block;
}

void ir_whole_set(ir_module *m, ir_op loop, ir_block block) {
  m->blocks.at[block].parent = loop;
  m->ops.at[loop].whole = block;
}

ir_block ir_region_block(ir_module *m, ir_op op, uint32_t region) {
  ir_block id = ir_block_new(m);
  ir_region_set(m, op, region, id);
  return id;
}

ir_value ir_block_arg(ir_module *m, ir_block block, ir_type type) {
  ir_value id = m->values.count;
  VEC_PUSH(m->arena, &m->values,
           (ir_value_data){.type = type, .block = block, .index = m->blocks.at[block].args.count});
  VEC_PUSH(m->arena, &m->blocks.at[block].args, id);
  return id;
}

void ir_keep_operands(ir_module *m, ir_op op, const bool *keep) {
  ir_op_data *d = ir_op_get(m, op);
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (keep[i]) d->operands[n++] = d->operands[i];
  d->n_operands = n;
}

void ir_keep_arguments(ir_module *m, ir_block block, const bool *keep) {
  ir_block_data *b = ir_block_get(m, block);
  uint32_t n = 0;
  for (uint32_t i = 0; i < b->args.count; i++) {
    if (!keep[i]) continue;
    b->args.at[n] = b->args.at[i];
    ir_value_get(m, b->args.at[n])->index = n;
    n++;
  }
  b->args.count = n;
}

void ir_block_append(ir_module *m, ir_block block, ir_op op) {
  m->ops.at[op].block = block;
  VEC_PUSH(m->arena, &m->blocks.at[block].ops, op);
}

ir_ops ir_take_ops(ir_module *m, ir_block block) {
  ir_block_data *b = ir_block_get(m, block);
  ir_ops ops = b->ops;
  b->ops = (ir_ops){0};
  return ops;
}

ir_block ir_function_body(const ir_module *m, ir_op function) {
  const ir_op_data *d = ir_op_get(m, function);
  return d->n_regions ? d->regions[0] : IR_NONE;
}

ir_op ir_find_function(const ir_module *m, const char *name) {
  for (ir_op o, i = 0; (o = ir_op_at(m, ir_top(m), i)); i++) {
    const char *symbol = ir_kind_of(m, o) == IR_OP_FUNC ? ir_op_string(m, o, "sym_name") : NULL;
    if (symbol && !strcmp(symbol, name)) return o;
  }
  return IR_NONE;
}

ir_op ir_main_function(const ir_module *m) {
  ir_op found = ir_find_function(m, "main");
  if (found) return ir_function_body(m, found) ? found : IR_NONE;
  for (ir_op o, i = 0; (o = ir_op_at(m, ir_top(m), i)); i++) {
    const char *visibility = ir_op_string(m, o, "sym_visibility");
    if (ir_kind_of(m, o) != IR_OP_FUNC || (visibility && !strcmp(visibility, "private"))) continue;
    if (found || !ir_function_body(m, o)) return IR_NONE;
    found = o;
  }
  return found;
}
