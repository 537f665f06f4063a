/* chlo.top_k over the columns: the k largest of each row, without the row.
 *
 * A row's list is a heap of k integers in the scratch, the worst on top: an element's place in
 * XLA's total order above, the complement of its index below, so that one comparison orders
 * elements as XLA does, equal ones by index. Beside it stands the limit, the worst of the list as a
 * value. Each tile is compared with the limits of its rows where it stands, in registers; only if
 * an element of it may pass, it is stored, and a function outside of the loops takes its elements
 * one by one. After n columns of random order that happened some k ln(n / k) times a row. The
 * comparison in registers lets too much pass rather than too little: NaNs, and zeros of either sign
 * where a zero is the limit and the sign matters. A negation in front of the
 * top-k is done to the limits instead. At the end of its pass the list is sorted in place.
 */
#include "kernel/elementwise.h"
#include "kernel/lists.h"

typedef struct list_type { /* of a node's lists, as text */
  const char *value;       /* "float" */
  const char *vector;      /* "<16 x float>" */
  const char *element;     /* "i64": order above, index below */
  int32_t key_bits, value_bits;
} list_type;

static ir_dtype dtype_of(const kernel_emitter *e, const kernel_node *x) {
  return ir_type_at(e->n->m, ir_operand(e->n->m, x->op, 0))->dtype;
}

bool kernel_topk_is_covered(ir_dtype dtype) {
  return dtype != IR_I1 && !kernel_is_narrow(dtype) && kernel_dtype_text(dtype);
}

static int32_t key_bits_of(ir_dtype dtype) { return ir_dtype_bytes(dtype) == 8 ? 64 : 32; }

static list_type type_of(kernel_emitter *e, const kernel_node *x) {
  ir_dtype dtype = dtype_of(e, x);
  int32_t bits = key_bits_of(dtype);
  return (list_type){.value = kernel_dtype_text(dtype),
                     .vector = kernel_type(e, dtype, true),
                     .element = bits == 64 ? "i128" : "i64",
                     .key_bits = bits,
                     .value_bits = (int32_t)ir_dtype_bytes(dtype) * 8};
}

static int64_t count_of(const kernel_nest *n, const kernel_node *x) { /* k */
  const ir_type_data *t = ir_type_at(n->m, x->value);
  return t->dims[t->rank - 1];
}

int64_t kernel_topk_list_bytes(const kernel_nest *n, const kernel_node *x) {
  return count_of(n, x) * key_bits_of(ir_type_at(n->m, x->value)->dtype) / 4;
}

int64_t kernel_topk_limit_bytes(const kernel_nest *n, const kernel_node *x) {
  return ir_dtype_bytes(ir_type_at(n->m, x->value)->dtype);
}

/* The values are negated ones: their limit is stored, and compared, as it was before that. */
static const kernel_node *negated(const kernel_nest *n, const kernel_node *x) {
  const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, 0));
  bool real = ir_is_float(ir_type_at(n->m, x->value)->dtype);
  return real && from && from->kind == IR_OP_NEGATE ? from : NULL;
}

/* ---- the functions outside of the loops ---- */
/* $N name, $T value, $V vector, $L lanes, $E element, $B bits of a key, $I "i<bits of a value>". */
static void put_template(kernel_emitter *e, const kernel_node *x, const char *text) {
  list_type t = type_of(e, x);
  for (; *text; text++) {
    if (*text != '$') {
      strbuf_putc(&e->helpers, *text);
      continue;
    }
    switch (*++text) {
      case 'N':
        strbuf_printf(&e->helpers, "%s_topk%u", e->name, (uint32_t)(x - e->n->nodes));
        break;
      case 'T': strbuf_puts(&e->helpers, t.value); break;
      case 'V': strbuf_puts(&e->helpers, t.vector); break;
      case 'L': strbuf_printf(&e->helpers, "%d", e->n->lanes); break;
      case 'E': strbuf_puts(&e->helpers, t.element); break;
      case 'B': strbuf_printf(&e->helpers, "%d", t.key_bits); break;
      case 'K': strbuf_printf(&e->helpers, "%lld", (long long)count_of(e->n, x)); break;
      default: strbuf_printf(&e->helpers, "i%d", t.value_bits); break;
    }
  }
}

/* The order of floats as integers: all bits but the sign are flipped below zero. An involution. */
static void put_order(kernel_emitter *e, const kernel_node *x) {
  ir_dtype dtype = dtype_of(e, x);
  int32_t key = key_bits_of(dtype), bits = (int32_t)ir_dtype_bytes(dtype) * 8;
  const char *widens = ir_is_signed(dtype) ? "sext" : "zext";
  if (ir_is_float(dtype)) {
    put_template(e, x,
                 "define internal i$B @$N_key($T %x) #1 {\n"
                 "  %b = bitcast $T %x to i$B\n");
    strbuf_printf(&e->helpers, "  %%s = ashr i%d %%b, %d\n  %%f = lshr i%d %%s, 1\n", key, key - 1,
                  key);
    put_template(e, x,
                 "  %k = xor i$B %b, %f\n  ret i$B %k\n}\n"
                 "define internal $T @$N_value(i$B %k) #1 {\n");
    strbuf_printf(&e->helpers, "  %%s = ashr i%d %%k, %d\n  %%f = lshr i%d %%s, 1\n", key, key - 1,
                  key);
    put_template(e, x, "  %b = xor i$B %k, %f\n  %x = bitcast i$B %b to $T\n  ret $T %x\n}\n");
    return;
  }
  const char *flip = !ir_is_signed(dtype) && bits == key
                         ? (key == 64 ? "-9223372036854775808" : "-2147483648")
                         : "0";
  put_template(e, x, "define internal i$B @$N_key($T %x) #1 {\n");
  if (bits < key) strbuf_printf(&e->helpers, "  %%w = %s i%d %%x to i%d\n", widens, bits, key);
  strbuf_printf(&e->helpers, "  %%k = xor i%d %s, %s\n", key, bits < key ? "%w" : "%x", flip);
  put_template(e, x, "  ret i$B %k\n}\ndefine internal $T @$N_value(i$B %k) #1 {\n");
  strbuf_printf(&e->helpers, "  %%%s = xor i%d %%k, %s\n", bits < key ? "w" : "x", key, flip);
  if (bits < key) strbuf_printf(&e->helpers, "  %%x = trunc i%d %%w to i%d\n", key, bits);
  put_template(e, x, "  ret $T %x\n}\n");
}

/* Puts c where the top of the heap of `count` was. */
static const char sift[] =
    "define internal void @$N_sift(ptr %heap, i64 %count, $E %c) #1 {\n"
    "entry:\n"
    "  br label %look\n"
    "look:\n"
    "  %i = phi i64 [0, %entry], [%child, %down]\n"
    "  %twice = shl i64 %i, 1\n"
    "  %left = add i64 %twice, 1\n"
    "  %has = icmp slt i64 %left, %count\n"
    "  br i1 %has, label %pick, label %place\n"
    "pick:\n"
    "  %next = add i64 %twice, 2\n"
    "  %both = icmp slt i64 %next, %count\n"
    "  %right = select i1 %both, i64 %next, i64 %left\n"
    "  %lp = getelementptr $E, ptr %heap, i64 %left\n"
    "  %rp = getelementptr $E, ptr %heap, i64 %right\n"
    "  %l = load $E, ptr %lp\n"
    "  %r = load $E, ptr %rp\n"
    "  %less = icmp slt $E %r, %l\n"
    "  %child = select i1 %less, i64 %right, i64 %left\n"
    "  %worse = select i1 %less, $E %r, $E %l\n"
    "  %sinks = icmp slt $E %worse, %c\n"
    "  br i1 %sinks, label %down, label %place\n"
    "down:\n"
    "  %to = getelementptr $E, ptr %heap, i64 %i\n"
    "  store $E %worse, ptr %to\n"
    "  br label %look\n"
    "place:\n"
    "  %p = getelementptr $E, ptr %heap, i64 %i\n"
    "  store $E %c, ptr %p\n"
    "  ret void\n"
    "}\n";

/* The tile at %kernel: rows x vectors; of its columns the first `count` exist. */
static const char add_head[] =
    "define internal void @$N_add(ptr %tile, ptr %heaps, ptr %limits, i64 %rows, i64 %vectors, "
    "i64 %count, i64 %column) noinline cold #0 {\n"
    "entry:\n"
    "  br label %row\n"
    "row:\n"
    "  %r = phi i64 [0, %entry], [%r.next, %row.end]\n"
    "  %place = mul i64 %r, $K\n"
    "  %heap = getelementptr $E, ptr %heaps, i64 %place\n"
    "  %limit = getelementptr $T, ptr %limits, i64 %r\n"
    "  %first = mul i64 %r, %vectors\n"
    "  br label %vector\n"
    "vector:\n"
    "  %v = phi i64 [0, %row], [%v.next, %vector.end]\n"
    "  %at = add i64 %first, %v\n"
    "  %p = getelementptr $V, ptr %tile, i64 %at\n"
    "  %x = load $V, ptr %p\n"
    "  %stored = load $T, ptr %limit\n";

static const char add_splat[] =
    "  %old1 = insertelement $V poison, $T %old, i64 0\n"
    "  %olds = shufflevector $V %old1, $V poison, <$L x i32> zeroinitializer\n";

static const char add_rest[] =
    "  %begin = mul i64 %v, $L\n"
    "  %left = sub i64 %count, %begin\n"
    "  %left1 = insertelement <$L x i64> poison, i64 %left, i64 0\n"
    "  %lefts = shufflevector <$L x i64> %left1, <$L x i64> poison, <$L x i32> zeroinitializer\n"
    "  %exists = icmp slt <$L x i64> %lanes, %lefts\n"
    "  %good = and <$L x i1> %pass, %exists\n"
    "  %bits = bitcast <$L x i1> %good to i$L\n"
    "  %mask = zext i$L %bits to i64\n"
    "  br label %lane\n"
    "lane:\n"
    "  %m = phi i64 [%mask, %vector], [%m.next, %lane.end]\n"
    "  %none = icmp eq i64 %m, 0\n"
    "  br i1 %none, label %vector.end, label %take\n"
    "take:\n"
    "  %lane.at = call i64 @llvm.cttz.i64(i64 %m, i1 true)\n"
    "  %y.p = getelementptr $T, ptr %p, i64 %lane.at\n"
    "  %y = load $T, ptr %y.p\n"
    "  %i0 = add i64 %column, %begin\n"
    "  %i1 = add i64 %i0, %lane.at\n"
    "  %c = call $E @$N_pack($T %y, i64 %i1)\n"
    "  %top = load $E, ptr %heap\n"
    "  %better = icmp sgt $E %c, %top\n"
    "  br i1 %better, label %insert, label %lane.end\n"
    "insert:\n"
    "  call void @$N_sift(ptr %heap, i64 $K, $E %c)\n"
    "  call void @$N_limit(ptr %heap, ptr %limit)\n"
    "  br label %lane.end\n"
    "lane.end:\n"
    "  %m.less = add i64 %m, -1\n"
    "  %m.next = and i64 %m, %m.less\n"
    "  br label %lane\n"
    "vector.end:\n"
    "  %v.next = add i64 %v, 1\n"
    "  %v.more = icmp slt i64 %v.next, %vectors\n"
    "  br i1 %v.more, label %vector, label %row.end\n"
    "row.end:\n"
    "  %r.next = add i64 %r, 1\n"
    "  %r.more = icmp slt i64 %r.next, %rows\n"
    "  br i1 %r.more, label %row, label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n";

/* The worst of a heap goes to its end, then the next to the place before. */
static const char sort[] =
    "define internal void @$N_sort(ptr %heap) noinline #0 {\n"
    "entry:\n"
    "  br label %look\n"
    "look:\n"
    "  %n = phi i64 [$K, %entry], [%last, %move]\n"
    "  %last = add i64 %n, -1\n"
    "  %more = icmp sgt i64 %last, 0\n"
    "  br i1 %more, label %move, label %done\n"
    "move:\n"
    "  %p = getelementptr $E, ptr %heap, i64 %last\n"
    "  %x = load $E, ptr %p\n"
    "  %top = load $E, ptr %heap\n"
    "  store $E %top, ptr %p\n"
    "  call void @$N_sift(ptr %heap, i64 %last, $E %x)\n"
    "  br label %look\n"
    "done:\n"
    "  ret void\n"
    "}\n";

/* The best of another list, which ends with what it never found. */
static const char merge[] =
    "define internal void @$N_merge(ptr %heap, ptr %other) noinline #0 {\n"
    "entry:\n"
    "  br label %look\n"
    "look:\n"
    "  %i = phi i64 [0, %entry], [%next, %end]\n"
    "  %p = getelementptr $E, ptr %other, i64 %i\n"
    "  %c = load $E, ptr %p\n"
    "  %top = load $E, ptr %heap\n"
    "  %better = icmp sgt $E %c, %top\n"
    "  br i1 %better, label %insert, label %end\n"
    "insert:\n"
    "  call void @$N_sift(ptr %heap, i64 $K, $E %c)\n"
    "  br label %end\n"
    "end:\n"
    "  %next = add i64 %i, 1\n"
    "  %more = icmp slt i64 %next, $K\n"
    "  br i1 %more, label %look, label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n";

static void put_pack(kernel_emitter *e, const kernel_node *x) {
  bool wide = key_bits_of(dtype_of(e, x)) == 64;
  put_template(e, x,
               "define internal $E @$N_pack($T %x, i64 %i) #1 {\n"
               "  %k = call i$B @$N_key($T %x)\n"
               "  %k1 = sext i$B %k to $E\n"
               "  %k2 = shl $E %k1, $B\n"
               "  %n = xor i64 %i, -1\n");
  if (!wide) put_template(e, x, "  %n1 = trunc i64 %n to i32\n");
  put_template(e, x, wide ? "  %n2 = zext i64 %n to $E\n" : "  %n2 = zext i32 %n1 to $E\n");
  put_template(e, x, "  %c = or $E %k2, %n2\n  ret $E %c\n}\n");
}

/* What an empty place of a heap has. */
static const char *lowest(const list_type *t) {
  return t->key_bits == 64 ? "-170141183460469231731687303715884105728" : "-9223372036854775808";
}

/* Of integers the limit is the least that passes: the next after the worst of a full list, all of
 * them while there is room. */
static void put_integer_limit(kernel_emitter *e, const kernel_node *x) {
  list_type t = type_of(e, x);
  bool with_sign = ir_is_signed(dtype_of(e, x));
  uint64_t top = (uint64_t)1 << (t.value_bits - 1);
  int64_t most = with_sign ? (int64_t)(top - 1) : -1;
  strbuf_printf(&e->helpers, "  %%room = icmp eq %s %%top, %s\n", t.element, lowest(&t));
  strbuf_printf(&e->helpers, "  %%last = icmp eq %s %%x, %lld\n", t.value, (long long)most);
  strbuf_printf(&e->helpers, "  %%next = add %s %%x, 1\n", t.value);
  strbuf_printf(&e->helpers, "  %%full = select i1 %%last, %s %%x, %s %%next\n", t.value, t.value);
  strbuf_printf(&e->helpers, "  %%y = select i1 %%room, %s %lld, %s %%full\n", t.value,
                with_sign ? -(long long)(top - 1) - 1 : 0, t.value);
}

/* -0 as the limit lets +0 pass; numbers that a thread may take for 0 let all of these pass. */
static void put_limit(kernel_emitter *e, const kernel_node *x) {
  ir_dtype dtype = dtype_of(e, x);
  put_template(e, x,
               "define internal void @$N_limit(ptr %heap, ptr %limit) #1 {\n"
               "  %top = load $E, ptr %heap\n"
               "  %k1 = ashr $E %top, $B\n"
               "  %k = trunc $E %k1 to i$B\n"
               "  %x = call $T @$N_value(i$B %k)\n");
  if (!ir_is_float(dtype)) put_integer_limit(e, x);
  else {
    double tiny = dtype == IR_F64 ? 0x1p-1022 : 0x1p-126;
    put_template(e, x, "  %b = bitcast $T %x to i$B\n  %m = shl i$B %b, 1\n");
    strbuf_printf(&e->helpers, "  %%small = icmp ult i%d %%m, %s\n", key_bits_of(dtype),
                  dtype == IR_F64 ? "9007199254740992" : "16777216");
    put_template(e, x, "  %nonzero = icmp ne i$B %b, 0\n  %odd = and i1 %small, %nonzero\n");
    strbuf_printf(&e->helpers, "  %%y = select i1 %%odd, %s %s, %s %%x\n", kernel_dtype_text(dtype),
                  kernel_real(e, dtype, -tiny), kernel_dtype_text(dtype));
  }
  if (negated(e->n, x)) put_template(e, x, "  %z = fneg $T %y\n");
  const char *name = negated(e->n, x) ? "%z" : "%y";
  put_template(e, x, arena_printf(e->a, "  store $T %s, ptr %%limit\n  ret void\n}\n", name));
}

static void put_lanes(kernel_emitter *e) {
  strbuf_printf(&e->helpers, "  %%lanes = add <%d x i64> zeroinitializer, <", e->n->lanes);
  for (int32_t i = 0; i < e->n->lanes; i++)
    strbuf_printf(&e->helpers, "%si64 %d", i ? ", " : "", i);
  strbuf_puts(&e->helpers, ">\n");
}

static const char *passes(ir_dtype dtype) {
  return ir_is_float(dtype) ? "fcmp ugt" : ir_is_signed(dtype) ? "icmp sge" : "icmp uge";
}

static const char *helper(kernel_emitter *e, const kernel_node *x, const char *which) {
  uint32_t node = (uint32_t)(x - e->n->nodes);
  if (!e->has_helpers[node]) {
    e->has_helpers[node] = true;
    kernel_declare(e, "declare i64 @llvm.cttz.i64(i64, i1)");
    put_order(e, x);
    put_template(e, x, sift);
    put_pack(e, x);
    put_limit(e, x);
    put_template(e, x, add_head);
    put_template(
        e, x,
        negated(e->n, x) ? "  %old = fneg $T %stored\n" : "  %old = bitcast $T %stored to $T\n");
    put_template(e, x, add_splat);
    put_lanes(e);
    strbuf_printf(&e->helpers, "  %%pass = %s ", passes(dtype_of(e, x)));
    put_template(e, x, "$V %x, %olds\n");
    put_template(e, x, add_rest);
    put_template(e, x, sort);
    put_template(e, x, merge);
  }
  return arena_printf(e->a, "@%s_topk%u_%s", e->name, node, which);
}

/* ---- the lists ---- */
static const char *list_at(kernel_emitter *e, const kernel_node *x, const char *row) {
  const char *base = kernel_line(e, "getelementptr i8, ptr %s, i64 %lld", e->numbers,
                                 (long long)e->reduction_offset[x->index]);
  return kernel_line(e, "getelementptr %s, ptr %s, i64 %s", type_of(e, x).element, base,
                     kernel_index(e, "0", row, count_of(e->n, x)));
}

static const char *limit_at(kernel_emitter *e, const kernel_node *x, const char *row) {
  const char *base = kernel_line(e, "getelementptr i8, ptr %s, i64 %lld", e->numbers,
                                 (long long)e->reduction_offset[x[1].index]);
  return kernel_line(e, "getelementptr %s, ptr %s, i64 %s", type_of(e, x).value, base, row);
}

void kernel_topk_clear(kernel_emitter *e, const kernel_node *x) {
  list_type t = type_of(e, x);
  const char *list = list_at(e, x, e->tile.row_local[0]);
  kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, count_of(e->n, x)), "1");
  const char *p = kernel_line(e, "getelementptr %s, ptr %s, i64 %s", t.element, list, l.index);
  kernel_put(e, "store %s %s, ptr %s", t.element, lowest(&t), p);
  kernel_loop_end(e, &l);
  kernel_put(e, "call void %s(ptr %s, ptr %s)", helper(e, x, "limit"), list,
             limit_at(e, x, e->tile.row_local[0]));
}

void kernel_topk_merge(kernel_emitter *e, const kernel_node *x, const char *other) {
  const char *before = e->numbers, *list = list_at(e, x, e->tile.row_local[0]);
  e->numbers = other;
  const char *more = list_at(e, x, e->tile.row_local[0]);
  e->numbers = before;
  kernel_put(e, "call void %s(ptr %s, ptr %s)", helper(e, x, "merge"), list, more);
}

void kernel_topk_sort(kernel_emitter *e, const kernel_node *x) {
  kernel_put(e, "call void %s(ptr %s)", helper(e, x, "sort"), list_at(e, x, e->tile.row_local[0]));
}

kernel_grid kernel_topk_read(kernel_emitter *e, const kernel_node *x) {
  const kernel_node *first = x - x->which;
  list_type t = type_of(e, first);
  int32_t rank = first->result.rank, axis = first->result.of[rank - 1];
  kernel_grid g = {
      .dtype = ir_type_at(e->n->m, x->value)->dtype, .rows = e->tile.rows, .columns = 1};
  for (int32_t r = 0; r < g.rows; r++) {
    const char *list = list_at(e, first, e->tile.row_local[r]);
    const char *p = kernel_line(e, "getelementptr %s, ptr %s, i64 %s", t.element, list,
                                axis < 0 ? "0" : e->tile.bound[axis]);
    const char *c = kernel_line(e, "load %s, ptr %s", t.element, p);
    if (x->which) {
      c = kernel_line(e, "xor %s %s, -1", t.element, c);
      g.at[r][0] = kernel_line(e, "trunc %s %s to %s", t.element, c, kernel_dtype_text(g.dtype));
      continue;
    }
    c = kernel_line(e, "ashr %s %s, %d", t.element, c, t.key_bits);
    c = kernel_line(e, "trunc %s %s to i%d", t.element, c, t.key_bits);
    g.at[r][0] =
        kernel_line(e, "call %s %s(i%d %s)", t.value, helper(e, first, "value"), t.key_bits, c);
  }
  return g;
}

/* ---- in the tile ---- */
typedef struct testing {
  kernel_grid grid;   /* that is compared */
  bool is_negative;   /* of the values */
  const char *buffer; /* for the tile */
} testing;

static const char *vector_at(kernel_emitter *e, const testing *t, int32_t r, int32_t c) {
  const char *x = kernel_at(&t->grid, r, c);
  return t->grid.is_vector ? x : kernel_splat(e, t->grid.dtype, x);
}

static testing test_of(kernel_emitter *e, const kernel_node *x) {
  const kernel_node *from = negated(e->n, x);
  testing t = {.is_negative = from != NULL};
  t.grid = t.is_negative ? kernel_operand(e, from, 0) : kernel_operand(e, x, 0);
  t.buffer = kernel_name(e);
  strbuf_printf(&e->entry, "  %s = alloca [%d x %s], align 64\n", t.buffer,
                e->tile.rows * e->tile.vectors, type_of(e, x).vector);
  return t;
}

/* True for lanes that can't go to the list. */
static const char *fails(kernel_emitter *e, const kernel_node *x, const testing *t, int32_t r,
                         int32_t c, const char *limit) {
  ir_dtype dtype = dtype_of(e, x);
  const char *how = t->is_negative        ? "fcmp oge"
                    : ir_is_float(dtype)  ? "fcmp ole"
                    : ir_is_signed(dtype) ? "icmp slt"
                                          : "icmp ult";
  return kernel_line(e, "%s %s %s, %s", how, type_of(e, x).vector, vector_at(e, t, r, c), limit);
}

enum { CHAINS = 4 }; /* of comparisons, each masked by the one before */

static const char *all_fail(kernel_emitter *e, const kernel_node *x, const testing *t) {
  const char *chain[CHAINS] = {NULL}, *masks = kernel_type(e, IR_I1, true), *all = NULL;
  int32_t count = 0;
  for (int32_t r = 0; r < e->tile.rows; r++) {
    list_type type = type_of(e, x);
    const char *limit =
        kernel_line(e, "load %s, ptr %s", type.value, limit_at(e, x, e->tile.row_local[r]));
    limit = kernel_splat(e, dtype_of(e, x), limit);
    for (int32_t c = 0; c < e->tile.vectors; c++, count++) {
      const char **link = &chain[count % CHAINS], *f = fails(e, x, t, r, c, limit);
      *link = *link ? kernel_line(e, "and %s %s, %s", masks, *link, f) : f;
    }
  }
  for (int32_t i = 0; i < CHAINS && chain[i]; i++)
    all = all ? kernel_line(e, "and %s %s, %s", masks, all, chain[i]) : chain[i];
  if (!e->tile.mask) return all;
  const char *absent = kernel_line(e, "xor %s %s, %s", masks, e->tile.mask,
                                   kernel_number(e, IR_I1, e->n->lanes, -1));
  return kernel_line(e, "or %s %s, %s", masks, all, absent);
}

static void store_tile(kernel_emitter *e, const kernel_node *x, const testing *t) {
  const char *vector = type_of(e, x).vector;
  for (int32_t r = 0; r < e->tile.rows; r++)
    for (int32_t c = 0; c < e->tile.vectors; c++) {
      const char *y = vector_at(e, t, r, c);
      if (t->is_negative) y = kernel_line(e, "fneg %s %s", vector, y);
      const char *p = kernel_line(e, "getelementptr %s, ptr %s, i64 %d", vector, t->buffer,
                                  r * e->tile.vectors + c);
      kernel_put(e, "store %s %s, ptr %s", vector, y, p);
    }
}

void kernel_topk_add(kernel_emitter *e, const kernel_node *x) {
  testing t = test_of(e, x);
  uint32_t label = e->names++;
  const char *all = all_fail(e, x, &t);
  int32_t lanes = e->n->lanes;
  const char *bits = kernel_line(e, "bitcast <%d x i1> %s to i%d", lanes, all, lanes);
  const char *none = kernel_line(e, "icmp eq i%d %s, -1", lanes, bits);
  kernel_put(e, "br i1 %s, label %%next%u, label %%take%u, !prof !1", none, label, label);
  strbuf_printf(e->out, "take%u:\n", label);
  store_tile(e, x, &t);
  const char *count = e->tile.mask
                          ? kernel_line(e, "sub i64 %s, %s", e->block_columns, e->tile.column_local)
                          : kernel_int(e, (int64_t)e->tile.vectors * lanes);
  kernel_put(e, "call void %s(ptr %s, ptr %s, ptr %s, i64 %d, i64 %d, i64 %s, i64 %s)",
             helper(e, x, "add"), t.buffer, list_at(e, x, e->tile.row_local[0]),
             limit_at(e, x, e->tile.row_local[0]), e->tile.rows, e->tile.vectors, count,
             e->tile.column);
  kernel_put(e, "br label %%next%u", label);
  strbuf_printf(e->out, "next%u:\n", label);
  kernel_forget_since(e, label);
}
