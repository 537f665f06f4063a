/* The tables of VHLO, as data. */
#include "ir/vhlo.h"

static const vhlo_row rows[] = {
#define VHLO(op, attribute, first, last, rule_, preset_)                                           \
  {op, attribute, first, last, VHLO_##rule_, VHLO_##preset_},
#include "ir/vhlo.def"
};

static const struct {
  const char *op;
  int version, minor;
} since[] = {
#define VHLO_SINCE(op, version, minor) {op, version, minor},
#include "ir/vhlo.def"
};

const vhlo_group vhlo_groups[VHLO_RULES] = {
    [VHLO_DOT] = {"dot_dimension_numbers", "#stablehlo.dot<", true},
    [VHLO_ALGORITHM] = {"algorithm", "#stablehlo.dot_algorithm<", false},
    [VHLO_GATHER] = {"dimension_numbers", "#stablehlo.gather<", true},
    [VHLO_SCATTER] = {"scatter_dimension_numbers", "#stablehlo.scatter<", true},
    [VHLO_CHANNEL] = {"channel_handle", "#stablehlo.channel_handle<", false},
    [VHLO_CONV] = {"dimension_numbers", "#stablehlo.conv<", false},
};

const vhlo_enum vhlo_enums[VHLO_CODES] = {
#define ENUM(code, text, words) [code] = {text, words},
#include "ir/vhlo_codes.def"
};

const vhlo_scalar vhlo_scalars[VHLO_CODES] = {
#define SCALAR(code, name, since) [code] = {name, since},
#include "ir/vhlo_codes.def"
};

static void insert(vhlo_op *op, const vhlo_row *row) {
  uint32_t i = op->count;
  for (; i > 0 && strcmp(op->by_name[i - 1]->name, row->name) > 0; i--)
    op->by_name[i] = op->by_name[i - 1];
  op->by_name[i] = row;
  op->rows[op->count++] = row;
}

vhlo_op vhlo_op_find(const char *stem, size_t length, int version) {
  vhlo_op op = {0};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const vhlo_row *r = &rows[i];
    if (strlen(r->op) != length || memcmp(r->op, stem, length) || version < r->first ||
        version > r->last)
      continue;
    assert(op.count < VHLO_MAX_ATTRIBUTES);
    insert(&op, r);
  }
  return op;
}

const vhlo_row *vhlo_next_row(const char *stem, const vhlo_row *row) {
  const vhlo_row *end = rows + sizeof rows / sizeof *rows;
  for (row = row ? row + 1 : rows; row < end; row++)
    if (!strcmp(row->op, stem)) return row;
  return NULL;
}

int vhlo_op_version(const char *stem, int minor) {
  int version = 1;
  for (size_t i = 0; i < sizeof since / sizeof *since; i++) {
    if (strcmp(since[i].op, stem)) continue;
    if (since[i].minor <= minor) return since[i].version;
    version = since[i].version - 1;
  }
  return version;
}

const char *vhlo_stablehlo_name(const vhlo_row *row) {
  if (row->rule == VHLO_CHANNEL_ID) return "channel_handle";
  return vhlo_groups[row->rule].name ? vhlo_groups[row->rule].name : row->name;
}

const char *vhlo_part_name(const vhlo_row *row) {
  if (row->rule != VHLO_CHANNEL) return row->name;
  return strcmp(row->name, "channel_id") ? "type" : "handle";
}
