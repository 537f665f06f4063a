/* Decoders and encoders of StableHLO's dialect attributes. */
#include "ir/attrs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/strbuf.h"

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The text right behind `key` as a whole word, NULL if absent. */
static const char *behind_key(const char *text, const char *key) {
  size_t n = strlen(key);
  for (const char *p = strstr(text, key); p; p = strstr(p + 1, key))
    if ((p == text || !is_word(p[-1])) && !is_word(p[n])) return p + n;
  return NULL;
}

static const char *skip(const char *p, const char *chars) { return p + strspn(p, chars); }

const char *ir_text_value(const char *text, const char *key) {
  const char *p = behind_key(text, key);
  return p ? skip(p, " =") : NULL;
}

bool ir_text_ints(arena *scratch, const char *text, const char *key, ir_ints *out_ints) {
  static const int64_t nothing = 0;
  *out_ints = (ir_ints){0, &nothing};
  const char *p = behind_key(text, key);
  if (!p) return true;
  p = skip(p, " =");
  if (*p++ != '[') return false;
  VEC(int64_t) v = {0};
  for (p = skip(p, " ,"); *p && *p != ']'; p = skip(p, " ,")) {
    char *end;
    int64_t x = strtoll(p, &end, 10);
    if (end == p) return false;
    VEC_PUSH(scratch, &v, x);
    p = end;
  }
  if (v.count) *out_ints = (ir_ints){(int32_t)v.count, v.at};
  return *p == ']';
}

static bool text_int(const char *text, const char *key, int64_t *out) {
  const char *p = behind_key(text, key);
  if (!p) return true; /* MLIR leaves defaults out */
  char *end;
  p = skip(p, " =");
  *out = strtoll(p, &end, 10);
  return end != p;
}

size_t ir_enum_word(const char *text, const char *key, const char **out_word) {
  const char *p = behind_key(text, key);
  if (!p) return 0;
  *out_word = skip(p, " ");
  size_t n = 0;
  while (is_word((*out_word)[n])) n++;
  return n;
}

bool ir_text_dot_dims(arena *a, const char *text, ir_dot_numbers *out) {
  return ir_text_ints(a, text, "lhs_batching_dimensions", &out->lhs_batch) &&
         ir_text_ints(a, text, "rhs_batching_dimensions", &out->rhs_batch) &&
         ir_text_ints(a, text, "lhs_contracting_dimensions", &out->lhs_contract) &&
         ir_text_ints(a, text, "rhs_contracting_dimensions", &out->rhs_contract);
}

const ir_dot_numbers *ir_decode_dot(arena *a, const char *text) {
  ir_dot_numbers n;
  bool is_dot = (starts_with(text, "#stablehlo.dot<") || starts_with(text, "#stablehlo<dot<")) &&
                ir_text_dot_dims(a, text, &n);
  return is_dot ? ARENA_COPY(a, ir_dot_numbers, &n, 1) : NULL;
}

bool ir_dot_dims(const ir_module *m, ir_op op, ir_dot_numbers *out) {
  const ir_attr_data *d = ir_op_attr_of(m, op, "dot_dimension_numbers", IR_ATTR_OTHER);
  if (d && d->dot) *out = *d->dot;
  return d && d->dot;
}

int32_t ir_dot_result_dims(const ir_type_data *lhs, const ir_type_data *rhs,
                           const ir_dot_numbers *n, int64_t *out_dims) {
  int32_t rank = 0;
  for (int32_t i = 0; i < n->lhs_batch.count; i++) out_dims[rank++] = lhs->dims[n->lhs_batch.at[i]];
  for (uint32_t side = 0; side < 2; side++) {
    const ir_type_data *t = side ? rhs : lhs;
    for (int32_t d = 0; d < t->rank; d++)
      if (ir_dot_is_free(n, side, d)) out_dims[rank++] = t->dims[d];
  }
  return rank;
}

static int64_t extent_of(const ir_type_data *t, ir_ints dims) {
  int64_t product = 1;
  for (int32_t i = 0; i < dims.count; i++)
    product = saturated_product(product, t->dims[dims.at[i]]);
  return product;
}

bool ir_dot_gemm(const ir_module *m, ir_op op, ir_gemm *out) {
  ir_value x = ir_operand(m, op, 0), y = ir_operand(m, op, 1);
  const ir_type_data *t = ir_type_at(m, x);
  static const int64_t zero = 0;
  int64_t last = t->rank - 1;
  ir_dot_numbers n = {{0, &zero}, {0, &zero}, {1, &last}, {1, &zero}};
  if (ir_kind_of(m, op) == IR_OP_DOT_GENERAL && !ir_dot_dims(m, op, &n)) return false;
  *out = (ir_gemm){.batch = extent_of(t, n.lhs_batch), .inner = extent_of(t, n.lhs_contract)};
  int64_t shared = saturated_product(out->batch, out->inner);
  out->rows = shared ? ir_element_count(m, ir_type_of(m, x)) / shared : 0;
  out->columns = shared ? ir_element_count(m, ir_type_of(m, y)) / shared : 0;
  return true;
}

/* Of the lists of ir_gather_numbers, in order. */
static const char *const gather_names[] = {"offset_dims", "collapsed_slice_dims",
                                           "operand_batching_dims", "start_indices_batching_dims",
                                           "start_index_map"},
                         *const scatter_names[] = {
                             "update_window_dims", "inserted_window_dims", "input_batching_dims",
                             "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"};

static bool indexing_dims(arena *scratch, const char *text, const char *const *names,
                          ir_gather_numbers *out) {
  ir_ints *lists[] = {&out->offset_dims, &out->collapsed_slice_dims, &out->operand_batching_dims,
                      &out->start_indices_batching_dims, &out->start_index_map};
  out->index_vector_dim = 0;
  for (size_t i = 0; text && i < sizeof lists / sizeof *lists; i++)
    if (!ir_text_ints(scratch, text, names[i], lists[i])) return false;
  return text && text_int(text, "index_vector_dim", &out->index_vector_dim);
}

static bool is_scatter(const ir_module *m, ir_op op) { return ir_kind_of(m, op) == IR_OP_SCATTER; }

/* The attribute that has them. */
static const char *numbers_name(const ir_module *m, ir_op op) {
  return is_scatter(m, op) ? "scatter_dimension_numbers" : "dimension_numbers";
}

bool ir_gather_dims(arena *scratch, const ir_module *m, ir_op op, ir_gather_numbers *out) {
  return indexing_dims(scratch, ir_op_string(m, op, numbers_name(m, op)),
                       is_scatter(m, op) ? scatter_names : gather_names, out);
}

ir_ints ir_ints_without(ir_ints v, int64_t x, int64_t *out) {
  int32_t count = 0;
  for (int32_t i = 0; i < v.count; i++)
    if (v.at[i] != x) out[count++] = v.at[i];
  return (ir_ints){count, out};
}

int32_t ir_entry_dim(const ir_gather_numbers *n, int64_t dim) {
  int64_t nth = dim - (dim > n->index_vector_dim);
  assert(dim >= 0 && dim != n->index_vector_dim);
  for (int32_t d = 0;; d++)
    if (!ir_ints_have(n->offset_dims, d) && nth-- == 0) return d;
}

/* One group of `[b, 0, 1, f]`: the position of each label. Returns what follows the closing
 * bracket, NULL if it does not read. */
static const char *conv_group(arena *scratch, const char *p, char first, char second,
                              int64_t *out_first, int64_t *out_second, ir_ints *out_spatial) {
  int64_t *spatial = ARENA_ARRAY(scratch, int64_t, IR_MAX_RANK);
  int32_t n_spatial = 0;
  int64_t position = 0;
  memset(spatial, -1, IR_MAX_RANK * sizeof *spatial); /* a label that is missing */
  *out_first = *out_second = -1;
  p = skip(p, " x->");
  if (*p++ != '[') return NULL;
  for (p = skip(p, " ,"); *p && *p != ']'; p = skip(p, " ,"), position++) {
    if (*p == first) *out_first = position, p++;
    else if (*p == second) *out_second = position, p++;
    else if (isdigit((unsigned char)*p)) {
      long label = strtol(p, (char **)&p, 10);
      if (label >= IR_MAX_RANK) return NULL;
      spatial[label] = position;
      n_spatial++;
    } else return NULL;
  }
  *out_spatial = (ir_ints){n_spatial, spatial};
  return *p == ']' && *out_first >= 0 && *out_second >= 0 ? p + 1 : NULL;
}

bool ir_conv_dims(arena *scratch, const ir_module *m, ir_op op, ir_conv_numbers *out) {
  const char *text = ir_op_string(m, op, "dimension_numbers");
  const char *p = text ? strchr(text, '[') : NULL;
  p = p ? conv_group(scratch, p, 'b', 'f', &out->input_batch, &out->input_feature,
                     &out->input_spatial)
        : NULL;
  p = p ? conv_group(scratch, p, 'i', 'o', &out->kernel_input_feature, &out->kernel_output_feature,
                     &out->kernel_spatial)
        : NULL;
  p = p ? conv_group(scratch, p, 'b', 'f', &out->output_batch, &out->output_feature,
                     &out->output_spatial)
        : NULL;
  return p && out->input_spatial.count == out->kernel_spatial.count &&
         out->input_spatial.count == out->output_spatial.count;
}

ir_conv_numbers ir_conv_channels_last(arena *a, int32_t spatial, bool output_first) {
  int64_t *at = ARENA_ARRAY(a, int64_t, (size_t)spatial + 1);
  for (int32_t i = 0; i <= spatial; i++) at[i] = i;
  ir_ints first = {spatial, at}, second = {spatial, at + 1};
  return (ir_conv_numbers){.input_feature = spatial + 1,
                           .kernel_input_feature = output_first ? spatial + 1 : spatial,
                           .kernel_output_feature = output_first ? spatial : spatial + 1,
                           .output_feature = spatial + 1,
                           .input_spatial = second,
                           .kernel_spatial = first,
                           .output_spatial = second};
}

bool ir_conv_same_numbers(const ir_conv_numbers *a, const ir_conv_numbers *b) {
  return a->input_batch == b->input_batch && a->input_feature == b->input_feature &&
         a->kernel_input_feature == b->kernel_input_feature &&
         a->kernel_output_feature == b->kernel_output_feature &&
         a->output_batch == b->output_batch && a->output_feature == b->output_feature &&
         ir_ints_same(a->input_spatial, b->input_spatial) &&
         ir_ints_same(a->kernel_spatial, b->kernel_spatial) &&
         ir_ints_same(a->output_spatial, b->output_spatial);
}

bool ir_compare_kind(const ir_module *m, ir_op op, ir_direction *out_direction,
                     ir_compare_type *out_type) {
  static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  static const char *const types[] = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
  const char *text = ir_op_string(m, op, "comparison_direction"), *word;
  size_t n = text ? ir_enum_word(text, "comparison_direction", &word) : 0;
  int direction = -1;
  for (int i = 0; i < 6; i++)
    if (word_is(word, n, directions[i])) direction = i;
  if (direction < 0) return false;
  *out_direction = (ir_direction)direction;
  *out_type = IR_COMPARE_DEFAULT;
  text = ir_op_string(m, op, "compare_type");
  n = text ? ir_enum_word(text, "comparison_type", &word) : 0;
  for (int i = 1; i < 5; i++)
    if (word_is(word, n, types[i])) *out_type = (ir_compare_type)i;
  return true;
}

ir_op ir_comparison(const ir_module *m, ir_value v, ir_direction *out_direction) {
  ir_op op = ir_maker(m, v, IR_OP_COMPARE);
  ir_compare_type type;
  return op && ir_compare_kind(m, op, out_direction, &type) ? op : IR_NONE;
}

static void put_ints(strbuf *b, const char *key, ir_ints v, bool *any) {
  if (v.count == 0) return;
  strbuf_printf(b, "%s%s = [", *any ? ", " : "", key);
  *any = true;
  for (int32_t i = 0; i < v.count; i++)
    strbuf_printf(b, "%s%lld", i ? ", " : "", (long long)v.at[i]);
  strbuf_putc(b, ']');
}

ir_attr ir_dot_dims_attr(ir_module *m, const ir_dot_numbers *dims) {
  strbuf b = strbuf_make(m->arena);
  bool any = false;
  strbuf_puts(&b, "#stablehlo.dot<");
  put_ints(&b, "lhs_batching_dimensions", dims->lhs_batch, &any);
  put_ints(&b, "rhs_batching_dimensions", dims->rhs_batch, &any);
  put_ints(&b, "lhs_contracting_dimensions", dims->lhs_contract, &any);
  put_ints(&b, "rhs_contracting_dimensions", dims->rhs_contract, &any);
  strbuf_putc(&b, '>');
  return ir_attr_other(m, b.text);
}

bool ir_pads_around(ir_module *m, ir_op pad, ir_ints *out_low, ir_ints *out_high) {
  ir_ints gaps = ir_op_list(m, pad, "interior_padding");
  *out_low = ir_op_list(m, pad, "edge_padding_low");
  *out_high = ir_op_list(m, pad, "edge_padding_high");
  for (int32_t d = 0; d < gaps.count; d++)
    if (out_low->at[d] < 0 || out_high->at[d] < 0 || gaps.at[d]) return false;
  return true;
}

void ir_set_dot_dims(ir_module *m, ir_op op, const ir_dot_numbers *dims) {
  ir_op_set_attr(m, op, "dot_dimension_numbers", ir_dot_dims_attr(m, dims), true);
}

/* names: of offset, collapsed, operand's batching, indices' batching dimensions and of the map. */
static ir_attr indexing_attr(ir_module *m, const char *head, const char *const *names,
                             const ir_gather_numbers *n) {
  strbuf b = strbuf_make(m->arena);
  bool any = false;
  strbuf_puts(&b, head);
  put_ints(&b, names[0], n->offset_dims, &any);
  put_ints(&b, names[1], n->collapsed_slice_dims, &any);
  put_ints(&b, names[2], n->operand_batching_dims, &any);
  put_ints(&b, names[3], n->start_indices_batching_dims, &any);
  put_ints(&b, names[4], n->start_index_map, &any);
  strbuf_printf(&b, "%sindex_vector_dim = %lld>", any ? ", " : "", (long long)n->index_vector_dim);
  return ir_attr_other(m, b.text);
}

ir_attr ir_gather_dims_attr(ir_module *m, const ir_gather_numbers *dims) {
  return indexing_attr(m, "#stablehlo.gather<", gather_names, dims);
}

ir_attr ir_scatter_dims_attr(ir_module *m, const ir_gather_numbers *dims) {
  return indexing_attr(m, "#stablehlo.scatter<", scatter_names, dims);
}

void ir_set_gather_dims(ir_module *m, ir_op op, const ir_gather_numbers *dims) {
  ir_attr attr = is_scatter(m, op) ? ir_scatter_dims_attr(m, dims) : ir_gather_dims_attr(m, dims);
  ir_op_set_attr(m, op, numbers_name(m, op), attr, true);
}

/* One group of a convolution's dimension numbers: labels at their positions. */
static void put_conv_group(strbuf *b, char first, int64_t at_first, char second, int64_t at_second,
                           ir_ints spatial) {
  strbuf_putc(b, '[');
  for (int32_t i = 0; i < spatial.count + 2; i++) {
    if (i) strbuf_puts(b, ", ");
    if (i == at_first) strbuf_putc(b, first);
    else if (i == at_second) strbuf_putc(b, second);
    else strbuf_printf(b, "%d", ir_ints_find(spatial, i));
  }
  strbuf_putc(b, ']');
}

ir_attr ir_conv_dims_attr(ir_module *m, const ir_conv_numbers *n) {
  strbuf b = strbuf_make(m->arena);
  strbuf_puts(&b, "#stablehlo.conv<");
  put_conv_group(&b, 'b', n->input_batch, 'f', n->input_feature, n->input_spatial);
  strbuf_putc(&b, 'x');
  put_conv_group(&b, 'i', n->kernel_input_feature, 'o', n->kernel_output_feature,
                 n->kernel_spatial);
  strbuf_puts(&b, "->");
  put_conv_group(&b, 'b', n->output_batch, 'f', n->output_feature, n->output_spatial);
  strbuf_putc(&b, '>');
  return ir_attr_other(m, b.text);
}

ir_kind ir_reducer_kind(const ir_module *m, ir_block body) {
  const ir_block_data *b = ir_block_get(m, body);
  if (b->args.count != 2 || b->ops.count != 2) return IR_OP_UNKNOWN;
  ir_op combine = b->ops.at[0], end = b->ops.at[1];
  const ir_op_data *d = ir_op_get(m, combine);
  if (d->n_operands != 2 || d->n_results != 1 || ir_op_get(m, end)->n_operands != 1)
    return IR_OP_UNKNOWN;
  bool straight = d->operands[0] == b->args.at[0] && d->operands[1] == b->args.at[1];
  bool swapped = d->operands[1] == b->args.at[0] && d->operands[0] == b->args.at[1];
  if ((!straight && !swapped) || ir_operand(m, end, 0) != d->first_result) return IR_OP_UNKNOWN;
  return ir_is_monoid((ir_kind)d->kind) ? (ir_kind)d->kind : IR_OP_UNKNOWN;
}

bool ir_is_putting(const ir_module *m, ir_block body) {
  const ir_block_data *b = ir_block_get(m, body);
  assert(b->args.count >= 2); /* of a reducer */
  return b->ops.count == 1 && ir_operand(m, b->ops.at[0], 0) == b->args.at[1];
}

static bool is_chosen(const ir_module *m, ir_value v, int depth) {
  ir_op op = ir_value_get(m, v)->op;
  if (!op) return true;
  ir_kind kind = ir_kind_of(m, op);
  if (!depth || (kind != IR_OP_SELECT && kind != IR_OP_MAXIMUM && kind != IR_OP_MINIMUM))
    return false;
  return is_chosen(m, ir_operand(m, op, kind == IR_OP_SELECT ? 2 : 0), depth - 1) &&
         is_chosen(m, ir_operand(m, op, 1), depth - 1);
}

bool ir_is_chosen(const ir_module *m, ir_block body, uint32_t i) {
  enum { DEEPEST = 8 };
  return is_chosen(m, ir_yielded(m, body, i), DEEPEST);
}

bool ir_is_lapack(const ir_module *m, ir_op op, const char *routine) {
  const char *target = ir_op_string(m, op, "call_target_name");
  if (!target || !starts_with(target, "lapack_") || !strchr("sdcz", target[7]) || !target[7])
    return false;
  size_t n = strlen(routine);
  return !strncmp(target + 8, routine, n) && !strcmp(target + 8 + n, "_ffi");
}

int64_t ir_ffi_config_int(const ir_module *m, ir_op op, const char *key, int64_t otherwise) {
  ir_attr config = ir_op_attr(m, op, "mhlo.backend_config");
  if (!config) config = ir_op_attr(m, op, "backend_config");
  ir_attr entry = ir_dict_get(m, config, key);
  const ir_attr_data *d = entry ? ir_attr_get(m, entry) : NULL;
  return d && d->kind == IR_ATTR_INT ? d->integer : otherwise;
}

bool ir_is_by_columns(const ir_module *m, ir_op op, const char *layouts, uint32_t i) {
  ir_attr attr = ir_op_attr(m, op, layouts);
  const ir_attr_data *list = attr ? ir_attr_get(m, attr) : NULL;
  if (!list || !list->items || (int64_t)i >= list->count) return false;
  const ir_attr_data *layout = ir_attr_get(m, list->items[i]);
  if (layout->kind != IR_ATTR_DENSE || layout->splat || ir_element_count(m, layout->type) < 2)
    return false;
  const int64_t *minor_to_major = layout->data;
  return minor_to_major[0] < minor_to_major[1];
}

bool ir_is_int_scalar(const ir_module *m, ir_value v) {
  const ir_type_data *t = ir_type_at(m, v);
  return t->kind == IR_TYPE_TENSOR && t->rank == 0 && ir_is_integer(t->dtype);
}

bool ir_integer_of(const ir_module *m, ir_value v, int64_t *out) {
  ir_op op = ir_maker(m, v, IR_OP_CONSTANT);
  if (!op || !ir_is_int_scalar(m, v)) return false;
  const ir_attr_data *d = ir_op_attr_of(m, op, "value", IR_ATTR_DENSE);
  if (!d || !d->data) return false;
  ir_dtype dtype = ir_type_at(m, v)->dtype;
  int64_t n = ir_dtype_bytes(dtype);
  uint64_t bits = 0;
  memcpy(&bits, d->data, (size_t)n);
  int shift = 64 - (int)n * 8;
  bool is_signed = ir_dtype_class_of(dtype) == IR_CLASS_INT;
  *out = is_signed ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
  return is_signed || *out >= 0;
}

/* ---- lists of numbers ---- */
ir_ints ir_op_list(const ir_module *m, ir_op op, const char *name) {
  ir_ints v; /* what it unpacks goes to the arena, which nobody sees */
  v.at = ir_op_ints((ir_module *)m, op, name, &v.count);
  if (v.count < 0) v.count = 0;
  return v;
}

int64_t ir_op_entry(const ir_module *m, ir_op op, const char *name, int64_t i, int64_t otherwise) {
  ir_ints v = ir_op_list(m, op, name);
  return i >= 0 && i < v.count ? v.at[i] : otherwise;
}

ir_loop ir_loop_get(const ir_module *m, ir_op op) {
  ir_ints in_dims = ir_op_list(m, op, "in_dims"), out_dims = ir_op_list(m, op, "out_dims");
  ir_loop l = {.extent = ir_op_int(m, op, "extent", 0),
               .slice = ir_op_int(m, op, "slice", 1),
               .n_inputs = (uint32_t)in_dims.count,
               .n_results = (uint32_t)out_dims.count,
               .in_dims = in_dims.at,
               .in_units = ir_op_list(m, op, "in_units").at,
               .out_dims = out_dims.at,
               .out_units = ir_op_list(m, op, "out_units").at};
  for (uint32_t j = 0; j < l.n_results; j++) l.n_carries += l.out_dims[j] < 0;
  CTX_CHECK(m->ctx, l.slice >= 1 && l.slice <= l.extent);
  CTX_CHECK(m->ctx, l.n_inputs + l.n_carries == ir_op_get(m, op)->n_operands);
  CTX_CHECK(m->ctx, l.n_results == ir_op_get(m, op)->n_results);
  l.trips = (l.extent + l.slice - 1) / l.slice;
  return l;
}

/* ---- prefix sums ---- */
int ir_prefix_along(ir_module *m, ir_op op, int64_t dim) {
  int64_t size = ir_type_at(m, ir_operand(m, op, 0))->dims[dim];
  int64_t low = ir_op_entry(m, op, "padding", 2 * dim, 0),
          high = ir_op_entry(m, op, "padding", 2 * dim + 1, 0);
  bool plain = ir_op_entry(m, op, "window_strides", dim, 1) == 1 &&
               ir_op_entry(m, op, "base_dilations", dim, 1) == 1 &&
               ir_op_entry(m, op, "window_dilations", dim, 1) == 1 &&
               ir_op_entry(m, op, "window_dimensions", dim, 1) == size && size > 1;
  if (plain && low == size - 1 && high == 0) return 1;
  return plain && low == 0 && high == size - 1 ? -1 : 0;
}
