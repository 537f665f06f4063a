/* The functions of a kernel's module.
 *
 * LLVM's time grows faster than the length of a function: its register allocator and what it does
 * to the addresses of loops. So the loops of a phase, the making of a copy and the like become
 * functions of their own, which are called once a chunk, block or panel. A name is the same in
 * caller and callee, so that text need not know which function it stands in.
 */
#include "kernel/emit.h"

typedef VEC(const char *) names;

static void add_name(kernel_emitter *e, names *list, const char *name) {
  if (!name || name[0] != '%') return;
  for (uint32_t i = 0; i < list->count; i++)
    if (!strcmp(list->at[i], name)) return;
  VEC_PUSH(e->a, list, name);
}

/* The indices that exist at a level, but for the item. */
static names indices_at(kernel_emitter *e, kernel_level level) {
  names list = {0};
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (e->n->role[a] == KERNEL_OUTER) add_name(e, &list, e->tile.bound[a]);
  if (strcmp(e->slot, "%item")) add_name(e, &list, e->slot);
  if (!e->finishes) {
    add_name(e, &list, "%row_begin");
    add_name(e, &list, "%row_count");
  }
  if (level >= KERNEL_BLOCK) {
    add_name(e, &list, e->block_begin);
    add_name(e, &list, e->block_columns);
    add_name(e, &list, e->block_main);
  }
  if (level >= KERNEL_PANEL) {
    add_name(e, &list, e->panel_begin);
    add_name(e, &list, e->panel_rows);
  }
  return list;
}

static const char FIXED[] =
    "ptr noalias %buffers, ptr noalias %functions, ptr noalias %scratch, "
    "ptr noalias %shared, i64 %item";

static void add_text(strbuf *out, const strbuf *text) {
  strbuf_add(out, text->text ? text->text : "", text->length);
}

/* head: up to the attributes; known: the names that it begins with. */
static void put(kernel_emitter *e, strbuf *out, const char *head, const strbuf *known,
                const kernel_function *f) {
  strbuf_printf(out, "\ndefine %s #0 {\nentry:\n", head);
  if (known) add_text(out, known);
  add_text(out, &e->entry);
  strbuf_puts(out, "  br label %start\nstart:\n");
  add_text(out, &f->code);
  strbuf_puts(out, "  ret void\n}\n");
}

/* Buffers and places, which are the same in all functions with the fixed arguments. */
static strbuf common(kernel_emitter *e) {
  strbuf b = strbuf_make(e->a);
  add_text(&b, &e->buffers);
  add_text(&b, &e->places);
  return b;
}

void kernel_function_begin(kernel_emitter *e, kernel_function *f) {
  kernel_forget_since(e, 0);
  f->caller = e->out;
  f->callers_entry = e->entry;
  f->code = strbuf_make(e->a);
  e->entry = strbuf_make(e->a);
  e->out = &f->code;
}

static void leave(kernel_emitter *e, kernel_function *f) {
  kernel_forget_since(e, 0);
  e->entry = f->callers_entry;
  e->out = f->caller;
}

void kernel_function_end(kernel_emitter *e, kernel_function *f, kernel_level level,
                         strbuf *caller) {
  names list = indices_at(e, level);
  strbuf call = strbuf_make(e->a);
  strbuf_printf(&call, "void @%s_%u(%s", e->name, e->names++, FIXED);
  for (uint32_t i = 0; i < list.count; i++) strbuf_printf(&call, ", i64 %s", list.at[i]);
  strbuf_putc(&call, ')');
  strbuf known = common(e);
  put(e, &e->helpers, arena_printf(e->a, "internal %s noinline", call.text), &known, f);
  strbuf_printf(caller, "  call %s\n", call.text);
  leave(e, f);
}

bool kernel_function_is_new(kernel_emitter *e, const char *name) {
  for (uint32_t i = 0; i < e->shared.count; i++)
    if (!strcmp(e->shared.at[i], name)) return false;
  VEC_PUSH(e->a, &e->shared, name);
  return true;
}

void kernel_function_share(kernel_emitter *e, kernel_function *f, const char *head) {
  put(e, &e->helpers, arena_printf(e->a, "internal %s noinline", head), NULL, f);
  leave(e, f);
}

void kernel_function_export(kernel_emitter *e, kernel_function *f, const char *ending,
                            strbuf *out) {
  strbuf known = common(e);
  put(e, out, arena_printf(e->a, "void @%s%s(%s)", e->name, ending, FIXED), &known, f);
  leave(e, f);
}
