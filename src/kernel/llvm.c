#define _GNU_SOURCE /* dladdr, dl_iterate_phdr */
#include "kernel/llvm.h"

#include "base/environment.h"
#include "base/kept.h"
#include "kernel/cache.h"
#include "weir/weir.h"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <link.h>
#include <sys/mman.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The C API's opaque pointers are all pointers to us. Enums by their values in llvm-c. */
typedef void *ref;
enum { OPT_NONE = 0, OPT_AGGRESSIVE = 3, RELOC_PIC = 2, CODE_MODEL_JIT = 1, OBJECT_FILE = 1 };
enum { OLDEST = 15, NEWEST = 24 };

/* What these kernels gain from. The rest of default<O2> (rotating and unrolling loops, combining
 * instructions that come combined) takes five times as long and gains nothing. */
#define USUAL_PASSES "function(sroa,early-cse<memssa>,loop-mssa(licm),early-cse,simplifycfg)"

/* In a build with the sanitizer its pass comes last; LLVM 15 has it under the second name. What
 * was parsed is verified first: the parser does not see a use that its definition does not
 * dominate. And machine code is made as it comes: what is read and written is the same, and with a
 * check at each load and store it takes a third of the time. */
#ifdef __SANITIZE_ADDRESS__
enum { OPT_CODE = OPT_NONE };
static const char PASSES[] = "verify," USUAL_PASSES;
static const char *const CHECKS[] = {"asan", "asan-module"};
#else
enum { OPT_CODE = OPT_AGGRESSIVE };
static const char PASSES[] = USUAL_PASSES;
static const char *const CHECKS[] = {"", ""};
#endif

#define C_API(F)                                                                                   \
  F(ref, ContextCreate, (void))                                                                    \
  F(void, ContextDispose, (ref))                                                                   \
  F(ref, CreateMemoryBufferWithMemoryRangeCopy, (const char *, size_t, const char *))              \
  F(int, ParseIRInContext, (ref, ref, ref *, char **))                                             \
  F(void, DisposeMessage, (char *))                                                                \
  F(void, DisposeModule, (ref))                                                                    \
  F(void, SetTarget, (ref, const char *))                                                          \
  F(void, SetModuleDataLayout, (ref, ref))                                                         \
  F(char *, GetDefaultTargetTriple, (void))                                                        \
  F(char *, GetHostCPUName, (void))                                                                \
  F(char *, GetHostCPUFeatures, (void))                                                            \
  F(int, GetTargetFromTriple, (const char *, ref *, char **))                                      \
  F(ref, CreateTargetMachine, (ref, const char *, const char *, const char *, int, int, int))      \
  F(void, DisposeTargetMachine, (ref))                                                             \
  F(ref, CreateTargetDataLayout, (ref))                                                            \
  F(void, DisposeTargetData, (ref))                                                                \
  F(int, TargetMachineEmitToMemoryBuffer, (ref, ref, int, char **, ref *))                         \
  F(const char *, GetBufferStart, (ref))                                                           \
  F(size_t, GetBufferSize, (ref))                                                                  \
  F(ref, CreatePassBuilderOptions, (void))                                                         \
  F(void, DisposePassBuilderOptions, (ref))                                                        \
  F(ref, RunPasses, (ref, const char *, ref, ref))                                                 \
  F(char *, GetErrorMessage, (ref))                                                                \
  F(void, DisposeErrorMessage, (char *))                                                           \
  F(ref, OrcCreateLLJIT, (ref *, ref))                                                             \
  F(ref, OrcLLJITGetMainJITDylib, (ref))                                                           \
  F(char, OrcLLJITGetGlobalPrefix, (ref))                                                          \
  F(ref, OrcCreateDynamicLibrarySearchGeneratorForProcess, (ref *, char, ref, ref))                \
  F(void, OrcJITDylibAddGenerator, (ref, ref))                                                     \
  F(ref, OrcLLJITAddObjectFile, (ref, ref, ref))                                                   \
  F(ref, OrcLLJITLookup, (ref, uint64_t *, const char *))

typedef struct c_api {
#define MEMBER(result, name, arguments) result(*name) arguments;
  C_API(MEMBER)
#undef MEMBER
} c_api;

static struct {
  pthread_once_t once;
  pthread_mutex_t lock; /* over the JIT */
  void *library;
  c_api f;
  ref jit;
  char *triple, *cpu, *features;
  char file[KEPT_STAMP_ROOM];
  const char *missing;
  char reason[256];
} llvm = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- finding it ---- */
/* It finds its own symbols first: TensorFlow shows the process all of another LLVM. The sanitizers
 * allow no such thing. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined RTLD_DEEPBIND
enum { OPENING = RTLD_NOW | RTLD_LOCAL };
#else
enum { OPENING = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND };
#endif

static void *open_version(int version) {
  static const char *const forms[] = {"libLLVM.so.%d.1", "libLLVM-%d.so.1", "libLLVM-%d.so",
                                      "/usr/lib/llvm-%d/lib/libLLVM.so",
                                      "/usr/lib/llvm-%d/lib/libLLVM-%d.so.1"};
  void *found = NULL;
  for (size_t i = 0; !found && i < sizeof forms / sizeof *forms; i++) {
    char name[128];
    snprintf(name, sizeof name, forms[i], version, version);
    found = dlopen(name, OPENING);
  }
  return found;
}

/* The one that the user wants; NULL: any. */
static const char *wanted_library(void) {
  const char *name = environment_get(ENVIRONMENT_LLVM);
  return name && *name ? name : NULL;
}

/* The loader reads whatever a path names: it would wait for a pipe. */
static void *open_wanted(const char *name) {
  struct stat s;
  bool is_file = !strchr(name, '/') || (!stat(name, &s) && S_ISREG(s.st_mode));
  return is_file ? dlopen(name, OPENING) : NULL;
}

static void *open_library(void) {
  if (wanted_library()) return open_wanted(wanted_library());
  void *found = NULL;
  for (int version = NEWEST; !found && version >= OLDEST; version--) found = open_version(version);
  return found;
}

static bool fill_table(void) {
  bool complete = true;
#define LOOK_UP(result, name, arguments)                                                           \
  *(void **)&llvm.f.name = dlsym(llvm.library, "LLVM" #name);                                      \
  complete &= llvm.f.name != NULL;
  C_API(LOOK_UP)
#undef LOOK_UP
  return complete;
}

static bool initialize_target(void) {
#if defined(__x86_64__)
  static const char *const names[] = {"LLVMInitializeX86TargetInfo", "LLVMInitializeX86Target",
                                      "LLVMInitializeX86TargetMC", "LLVMInitializeX86AsmPrinter"};
#elif defined(__aarch64__)
  static const char *const names[] = {
      "LLVMInitializeAArch64TargetInfo", "LLVMInitializeAArch64Target",
      "LLVMInitializeAArch64TargetMC", "LLVMInitializeAArch64AsmPrinter"};
#else
  static const char *const names[] = {""};
#endif
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void (*initialize)(void);
    *(void **)&initialize = dlsym(llvm.library, names[i]);
    if (!initialize) return false;
    initialize();
  }
  return true;
}

static const char *take_error(ref error) {
  char *message = llvm.f.GetErrorMessage(error);
  snprintf(llvm.reason, sizeof llvm.reason, "%s", message);
  llvm.f.DisposeErrorMessage(message);
  return llvm.reason;
}

/* Without constructors, of which a JIT can have one: this program has called the sanitizer's. */
static void set_up_checks(void) {
#ifdef __SANITIZE_ADDRESS__
  static const char *const options[] = {"weir", "-asan-constructor-kind=none"};
  void (*parse)(int, const char *const *, const char *);
  *(void **)&parse = dlsym(llvm.library, "LLVMParseCommandLineOptions");
  if (parse) parse(2, options, NULL);
#endif
}

/* A child of fork finds the JIT whole. */
static void lock_jit(void) { pthread_mutex_lock(&llvm.lock); }
static void unlock_jit(void) { pthread_mutex_unlock(&llvm.lock); }

static const char *start(void) {
  llvm.library = open_library();
  if (!llvm.library)
    return wanted_library() ? "WEIR_LLVM names no library that opens"
                            : "no libLLVM of version 15 or newer was found";
  if (!fill_table()) return "this libLLVM lacks functions of the C API";
  if (!initialize_target()) return "this libLLVM can't compile for this machine";
  set_up_checks();
  ref generator, error = llvm.f.OrcCreateLLJIT(&llvm.jit, NULL);
  if (error) return take_error(error);
  error = llvm.f.OrcCreateDynamicLibrarySearchGeneratorForProcess(
      &generator, llvm.f.OrcLLJITGetGlobalPrefix(llvm.jit), NULL, NULL);
  if (error) return take_error(error);
  llvm.f.OrcJITDylibAddGenerator(llvm.f.OrcLLJITGetMainJITDylib(llvm.jit), generator);
  llvm.triple = llvm.f.GetDefaultTargetTriple();
  llvm.cpu = llvm.f.GetHostCPUName();
  llvm.features = llvm.f.GetHostCPUFeatures();
  kept_stamp((const void *)(uintptr_t)llvm.f.ContextCreate, llvm.file);
  if (pthread_atfork(lock_jit, unlock_jit, unlock_jit)) return "out of memory";
  return NULL;
}

#ifdef __GLIBC__
/* base: of the library whose pages are dropped. What was written stays. */
static int drop_read_pages(struct dl_phdr_info *of, size_t size, void *base) {
  (void)size;
  if (of->dlpi_addr != (ElfW(Addr))(uintptr_t)base) return 0;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < of->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &of->dlpi_phdr[i];
    if (h->p_type != PT_LOAD || h->p_flags & PF_W) continue;
    uintptr_t begin = (of->dlpi_addr + h->p_vaddr) & ~(page - 1),
              end = of->dlpi_addr + h->p_vaddr + h->p_memsz;
    (void)madvise((void *)begin, end - begin, MADV_DONTNEED); /* else it only takes more */
  }
  return 1;
}
#endif

/* Opening it reads 38 MB, for its symbols. They come again from the file where kernels are made,
 * which many a process that asks for LLVM does not. */
static void forget_pages(void) {
#ifdef __GLIBC__
  Dl_info found;
  if (dladdr((void *)(uintptr_t)llvm.f.ContextCreate, &found))
    dl_iterate_phdr(drop_read_pages, found.dli_fbase);
#endif
}

static void start_once(void) {
  llvm.missing = start();
  if (!llvm.missing) forget_pages();
}

const char *kernel_llvm_missing(void) {
  pthread_once(&llvm.once, start_once);
  return llvm.missing;
}

/* The host with all that it has, or what every processor of a lower level has, in LLVM's words. */
typedef struct target {
  const char *cpu, *features;
} target;

static target target_of(machine_level level) {
  if (level == machine_host().level) return (target){llvm.cpu, llvm.features};
  return (target){machine_level_name(level), ""};
}

/* ---- compiling ---- */
typedef struct compilation {
  target target;
  ref context, module, machine;
} compilation;

static weir_status parse(ctx *c, compilation *w, const char *text, size_t length) {
  char *message = NULL;
  w->context = llvm.f.ContextCreate();
  ref buffer = llvm.f.CreateMemoryBufferWithMemoryRangeCopy(text, length, "kernel");
  if (!llvm.f.ParseIRInContext(w->context, buffer, &w->module, &message)) return WEIR_OK;
  w->module = NULL;
  weir_status status = ctx_error(c, WEIR_INTERNAL, "LLVM does not read a kernel: %s", message);
  llvm.f.DisposeMessage(message);
  return status;
}

static weir_status make_machine(ctx *c, compilation *w) {
  ref family;
  char *message = NULL;
  if (llvm.f.GetTargetFromTriple(llvm.triple, &family, &message)) {
    weir_status status = ctx_error(c, WEIR_INTERNAL, "LLVM: %s", message);
    llvm.f.DisposeMessage(message);
    return status;
  }
  w->machine = llvm.f.CreateTargetMachine(family, llvm.triple, w->target.cpu, w->target.features,
                                          OPT_CODE, RELOC_PIC, CODE_MODEL_JIT);
  ref layout = llvm.f.CreateTargetDataLayout(w->machine);
  llvm.f.SetTarget(w->module, llvm.triple);
  llvm.f.SetModuleDataLayout(w->module, layout);
  llvm.f.DisposeTargetData(layout);
  return WEIR_OK;
}

static ref run_passes(const compilation *w, const char *passes) {
  ref options = llvm.f.CreatePassBuilderOptions();
  ref error = *passes ? llvm.f.RunPasses(w->module, passes, w->machine, options) : NULL;
  llvm.f.DisposePassBuilderOptions(options);
  return error;
}

static weir_status optimize(ctx *c, compilation *w) {
  ref error = run_passes(w, PASSES);
  if (!error && (error = run_passes(w, CHECKS[0]))) {
    take_error(error);
    error = run_passes(w, CHECKS[1]);
  }
  return error ? ctx_error(c, WEIR_INTERNAL, "LLVM: %s", take_error(error)) : WEIR_OK;
}

static weir_status link_object(ctx *c, ref object, const char *name, void **out_function) {
  uint64_t address = 0;
  ref error =
      llvm.f.OrcLLJITAddObjectFile(llvm.jit, llvm.f.OrcLLJITGetMainJITDylib(llvm.jit), object);
  if (!error) error = llvm.f.OrcLLJITLookup(llvm.jit, &address, name);
  if (error) return ctx_error(c, WEIR_INTERNAL, "LLVM: %s", take_error(error));
  *out_function = (void *)(uintptr_t)address;
  return WEIR_OK;
}

weir_status kernel_llvm_find(ctx *c, const char *name, void **out_function) {
  uint64_t address = 0;
  pthread_mutex_lock(&llvm.lock);
  ref error = llvm.f.OrcLLJITLookup(llvm.jit, &address, name);
  weir_status status = error ? ctx_error(c, WEIR_INTERNAL, "LLVM: %s", take_error(error)) : WEIR_OK;
  pthread_mutex_unlock(&llvm.lock);
  *out_function = (void *)(uintptr_t)address;
  return status;
}

static weir_status emit_object(ctx *c, compilation *w, ref *out_object) {
  char *message = NULL;
  WEIR_TRY(make_machine(c, w));
  WEIR_TRY(optimize(c, w));
  if (!llvm.f.TargetMachineEmitToMemoryBuffer(w->machine, w->module, OBJECT_FILE, &message,
                                              out_object))
    return WEIR_OK;
  weir_status status = ctx_error(c, WEIR_INTERNAL, "LLVM: %s", message);
  llvm.f.DisposeMessage(message);
  return status;
}

/* ---- objects kept on disk ---- */
static kernel_cache_key key_of(target t, const char *text, size_t length) {
  kernel_cache_key key = {{0, 0}};
  const char *const parts[] = {WEIR_VERSION, PASSES,     CHECKS[0], llvm.triple,
                               t.cpu,        t.features, llvm.file};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    kernel_cache_add(&key, parts[i], strlen(parts[i]));
  kernel_cache_add(&key, text, length);
  return key;
}

typedef struct object {
  char *data; /* malloc'ed */
  size_t length;
} object;

static object copy_of(ref buffer) {
  object o = {NULL, llvm.f.GetBufferSize(buffer)};
  o.data = malloc(o.length ? o.length : 1);
  if (o.data) memcpy(o.data, llvm.f.GetBufferStart(buffer), o.length);
  return o;
}

static void put_object(arena *a, const kernel_cache_key *key, object *o) {
  if (o->data) kernel_cache_put(a, key, o->data, o->length);
  free(o->data);
}

static weir_status compile_and_link(ctx *c, target t, const char *text, size_t length,
                                    const char *name, object *out_object, void **out_function) {
  compilation w = {t, NULL, NULL, NULL};
  ref buffer = NULL;
  pthread_mutex_lock(&llvm.lock);
  weir_status status = parse(c, &w, text, length);
  if (status == WEIR_OK) status = emit_object(c, &w, &buffer);
  if (status == WEIR_OK) *out_object = copy_of(buffer);
  if (status == WEIR_OK) status = link_object(c, buffer, name, out_function);
  if (w.machine) llvm.f.DisposeTargetMachine(w.machine);
  if (w.module) llvm.f.DisposeModule(w.module);
  if (w.context) llvm.f.ContextDispose(w.context);
  pthread_mutex_unlock(&llvm.lock);
  return status;
}

static weir_status link_kept(ctx *c, const char *data, size_t length, const char *name,
                             void **out_function) {
  pthread_mutex_lock(&llvm.lock);
  ref buffer = llvm.f.CreateMemoryBufferWithMemoryRangeCopy(data, length, "kernel");
  weir_status status = link_object(c, buffer, name, out_function);
  pthread_mutex_unlock(&llvm.lock);
  return status;
}

weir_status kernel_llvm_compile(arena *a, machine_level level, const char *text, size_t length,
                                const char *name, void **out_function) {
  ctx *c = arena_ctx(a);
  if (kernel_llvm_missing()) return ctx_error(c, WEIR_UNIMPLEMENTED, "%s", llvm.missing);
  target t = target_of(level);
  kernel_cache_key key = key_of(t, text, length);
  size_t kept_length;
  const char *kept = kernel_cache_get(a, &key, &kept_length);
  if (kept) return link_kept(c, kept, kept_length, name, out_function);
  object made = {NULL, 0};
  weir_status status = compile_and_link(c, t, text, length, name, &made, out_function);
  if (status == WEIR_OK) put_object(a, &key, &made);
  else free(made.data);
  return status;
}
