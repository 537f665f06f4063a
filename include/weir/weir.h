/* weir: rewrites an XLA program so that its peak memory stays under a limit.
 *
 * The only public header. Everything here is thread safe as long as no two threads use the same
 * weir_result.
 *
 * Ownership: weir_rewrite() returns one weir_result through its out-parameter, also on error; the
 * caller destroys it with weir_result_destroy(). Every pointer got from a result lives as long as
 * that result. Nothing else is owned by anyone.
 */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#define WEIR_MUST_USE __attribute__((warn_unused_result))
#else
#define WEIR_API
#define WEIR_MUST_USE
#endif

#define WEIR_VERSION "0.1.0"

/* The codes of absl::Status and of PJRT_Error_Code, by number. */
typedef enum weir_status {
  WEIR_OK = 0,
  WEIR_INVALID_ARGUMENT = 3, /* malformed program or setting; the message has line and column */
  WEIR_NOT_FOUND = 5,
  WEIR_RESOURCE_EXHAUSTED = 8, /* the program can't be brought under the limit (or malloc failed) */
  WEIR_UNIMPLEMENTED = 12,     /* legal, but not ours to read: leave the program alone */
  WEIR_INTERNAL = 13,          /* our bug: leave the program alone and report it */
} weir_status;

/* What XLA reports for one compiled program, per device, in bytes (xla::CompiledMemoryStats). */
typedef struct weir_memory {
  int64_t argument_bytes;
  int64_t output_bytes;
  int64_t alias_bytes; /* donated arguments reused as outputs: counted once */
  int64_t temp_bytes;
} weir_memory;

/* The referee: compiles `text` (StableHLO, `length` bytes, NUL-terminated) with XLA under `options`
 * ("name=value" strings, NULL-terminated) and reports XLA's memory plan. Returns 0, or nonzero if
 * XLA refuses the program. Called on the thread of weir_rewrite(). `text` is NULL where the program
 * is to be compiled exactly as it came in. */
typedef int (*weir_referee)(void *user, const char *text, size_t length, const char *const *options,
                            weir_memory *out_memory);

/* One of two ways to run a program. */
typedef struct weir_way {
  const char *text; /* StableHLO, `length` bytes, NUL-terminated; NULL: exactly as it came in */
  size_t length;
  const char *const *options; /* "name=value" strings, NULL-terminated */
} weir_way;

/* What one run takes: by the clock, and of all threads together. */
typedef struct weir_took {
  int64_t ns, cpu_ns;
} weir_took;

/* The timer: compiles both ways with XLA, unless that is done, runs them in turn on made-up
 * arguments, in 0.2 s, and says what each takes. Returns 0, or 1 where that can't be done: the
 * prediction stands then. So it does where 2 is returned, which is kept: nobody asks again. Called
 * on the thread of weir_rewrite(), for programs on one CPU device that may be run with any
 * arguments: nothing of them has effects, and all loops end. */
typedef int (*weir_timer)(void *user, const weir_way ways[2], weir_took out_took[2]);

/* When to search for the smallest feasible limit: by bisection to 1 %, each step a split without
 * XLA. */
typedef enum weir_minimum {
  WEIR_MINIMUM_IF_REFUSED = 0,
  WEIR_MINIMUM_ALWAYS, /* also where the limit holds, or there is none */
  WEIR_MINIMUM_NEVER,
} weir_minimum;

typedef enum weir_tile_mode {
  WEIR_TILE_OFF = 0,
  WEIR_TILE_AUTO, /* loops, and regions of programs that fit, that are predicted to be faster so */
  WEIR_TILE_ON,   /* all loops that can, and such regions */
} weir_tile_mode;

typedef struct weir_options {
  size_t struct_size;         /* sizeof(weir_options): set by WEIR_OPTIONS_INIT */
  int64_t memory_limit_bytes; /* arguments + results + temporaries - aliased, per device; 0: none */
  int64_t
      tensor_size_threshold_bytes; /* split every tensor above it; 0: none (paper, section 3.3) */
  int64_t tensor_split_size_bytes; /* largest slice of a split tensor; 0: as the threshold */
  const char *platform; /* "cpu" (default), "cuda", "rocm", "tpu": which compile options make XLA's
                           report honest; NULL: that of the machine */
  const char *only_passes; /* comma-separated; NULL: all */
  const char *skip_passes; /* comma-separated; NULL: none */
  const char *dump_after;  /* a pass name, or "all": program text to stderr */
  const char *stop_after;  /* a pass name: print the program as it stands there */
  int debug;               /* 0 silent .. 5 everything, on stderr */
  weir_referee referee;    /* NULL: weir's own estimate decides */
  void *referee_user;
  weir_minimum minimum;
  bool shardings_known; /* of a program over several partitions: every op that is sharded says how
                           (sdy.sharding), as Shardy's propagation leaves it */
  int tile;             /* weir_tile_mode: which loops run as kernels of weir's own, on "cpu" */
  bool progress;        /* loops call `weir_progress`, on "cpu": weir_progress_handler() */
  const char
      *machine; /* what the program will run on, as weir_machine_describe() takes it; NULL: here */
  bool data;    /* weir_result_data() is wanted. Cost: a few more splits without XLA */
  bool trace;   /* weir_result_trace() is wanted */
  const char *bytecode; /* weir_result_text() as MLIR bytecode, a portable artifact of this version
                           of StableHLO ("1.13.0"), also where nothing was rewritten; "": of the
                           input's version, or of one that jax 0.7.2 reads; NULL: as text */
  int64_t search_ops;   /* how long a way under the limit is searched for: ops that estimates and
                           regions come to and XLA compiles (each 1,500 times), the same on every
                           machine; all searches have twice as many; 0: 30 million (some 20 s of
                           CPU), or 1,000 for each op of the program if that is more */
  weir_timer timer; /* where predictions under WEIR_TILE_AUTO are unsure; NULL: they stand, unless
                       a choice was kept. weir_fits() does not call it */
  void *timer_user;
  const char *timed_by; /* what compiles and runs, its version and flags: choices are kept for it,
                           in the folder of WEIR_CACHE_DIR. NULL: none is made, and none counts. So
                           it is where the machine is named */
} weir_options;

#define WEIR_OPTIONS_INIT                                                                          \
  { .struct_size = sizeof(weir_options) }

typedef enum weir_outcome {
  WEIR_UNTOUCHED = 0, /* hand the program over exactly as it came */
  WEIR_OPTIONS_ONLY,  /* same program, compiled with weir_result_compile_options() */
  WEIR_REWRITTEN,     /* weir_result_text(), compiled with weir_result_compile_options() */
} weir_outcome;

typedef struct weir_result weir_result;

/* Rewrites one program. text: StableHLO as MLIR's text or bytecode (a portable artifact), `length`
 * bytes, need not be NUL-terminated. WEIR_OK also where nothing had to be done. Errors:
 * INVALID_ARGUMENT (does not parse or verify), RESOURCE_EXHAUSTED (no way found under the limit),
 * UNIMPLEMENTED, INTERNAL; weir_result_message() tells. Cost: a few passes over the program and,
 * with a referee, a bounded number of XLA compiles. */
WEIR_API WEIR_MUST_USE weir_status weir_rewrite(const char *text, size_t length,
                                                const weir_options *options,
                                                weir_result **out_result);
WEIR_API void weir_result_destroy(weir_result *result);

/* Whether weir_rewrite() leaves the program untouched for sure: all that it ever holds, arguments,
 * results and every temporary at once, is under the limit, if there is one, and nothing would be
 * faster as a kernel, if the options allow any. The referee is not asked. Errors: as
 * weir_rewrite(); *out_fits is false then. Cost: reading the program, whose text needs no
 * locations; where kernels are allowed and values are large, a try for each of these. */
WEIR_API WEIR_MUST_USE weir_status weir_fits(const char *text, size_t length,
                                             const weir_options *options, bool *out_fits);

/* A program that every one of several devices would compute as a whole, spread over them: of
 * `mhlo.num_partitions` partitions, with no shardings. Values above an eighth of the limit are
 * sharded (sdy.sharding_constraint) along a dimension that loops over slices would take; arguments
 * and results stay whole on each device. The text computes the same, and is one for XLA, or for
 * weir_rewrite() with the shardings that Shardy finds. Outcome: REWRITTEN, or UNTOUCHED where
 * nothing is sharded, for which there is no text. Reads memory_limit_bytes, platform, machine,
 * bytecode and which passes are on. Errors: as weir_rewrite(). */
WEIR_API WEIR_MUST_USE weir_status weir_spread(const char *text, size_t length,
                                               const weir_options *options,
                                               weir_result **out_result);

WEIR_API weir_outcome weir_result_outcome(const weir_result *result);
/* The program, NUL-terminated: rewritten (or as stop_after left it), bytecode as text, or what
 * weir_options.bytecode asks for; or NULL. */
WEIR_API const char *weir_result_text(const weir_result *result, size_t *out_length);
/* "name=value" strings, NULL-terminated; never NULL. */
WEIR_API const char *const *weir_result_compile_options(const weir_result *result);
/* The error's text, "" if there was none. */
WEIR_API const char *weir_result_message(const weir_result *result);
/* EXPLAIN: who holds the peak before and after, loops, slices, extra flops; a table for people. */
WEIR_API const char *weir_result_explain(const weir_result *result);

/* The plan as JSON, for programs and for weir_page(): what is live when, the graph, loops, what
 * limits cost. "" unless weir_options.data was set and there is a plan. src/limit/data.c has the
 * fields; they may change from version to version. */
WEIR_API const char *weir_result_data(const weir_result *result);

/* The schedule before and after in Chrome's trace event format, for Perfetto and chrome://tracing.
 * "" unless weir_options.trace was set and there is a plan. */
WEIR_API const char *weir_result_trace(const weir_result *result);

typedef struct weir_summary {
  size_t struct_size;
  int64_t limit_bytes;
  int64_t peak_before_bytes; /* XLA's number, unless `before_is_estimate` */
  int64_t peak_after_bytes;  /* likewise */
  int64_t minimum_bytes;     /* smallest limit found feasible; 0: not searched */
  int64_t flops_before, flops_after;
  int32_t loops; /* how many loops were made */
  int32_t referee_compiles;
  int64_t time_before_ns, time_after_ns; /* predicted; good for comparing, not absolute */
  bool only_faster; /* held the limit, or there is none: rewritten for the sake of time */
  bool before_is_estimate, after_is_estimate; /* weir's own: there is no referee, it was not asked,
                                                 or it refused the program */
  int64_t faster_limit_bytes; /* where it is predicted to be more than twice as slow as it came: a
                                 limit under which it is not; else 0 */
  bool is_unconfirmed; /* the limit is held by estimate alone: the referee refused the program that
                          weir_result_outcome() means. Not to be run as one that holds it */
  int64_t tried_took_ns, else_took_ns; /* what runs of two ways were timed to take, now or before; 0:
                                          predictions decided */
  const char *tried_how; /* what one of them has and the other has not: "with kernels" .. */
  int32_t timer_calls;
} weir_summary;
WEIR_API void weir_result_summary(const weir_result *result, weir_summary *out_summary);

typedef struct weir_loop_info {
  size_t struct_size;
  const char *seed; /* op, shape and source line of the tensor that the loop dissolves */
  int64_t extent;   /* length of the split factor */
  int64_t slice;    /* of it, per trip */
  int64_t trips;
  int32_t depth;           /* 0: outermost */
  int32_t ops;             /* in the body */
  int64_t body_peak_bytes; /* largest slice of the loop as XLA's; a kernel keeps none */
  int32_t is_kernel;       /* 1: a kernel of weir's own; 0: a loop that XLA compiles */
  int64_t time_ns; /* predicted, of all trips in all those of the loops around it; 0: not known, or
                      not asked for: weir_options.data */
} weir_loop_info;
/* false where index is out of range. */
WEIR_API bool weir_result_loop(const weir_result *result, int32_t index, weir_loop_info *out_info);

typedef struct weir_program {
  const char *title;
  const char *text; /* StableHLO, as for weir_rewrite() */
  size_t length;
} weir_program;
/* The programs side by side in one picture: weir_result_text() is a graph in Graphviz's dot
 * language, with loops as boxes and tensors coloured by size. large_bytes: the size that gets the
 * strongest colour; 0: that of the largest tensor. */
WEIR_API WEIR_MUST_USE weir_status weir_graph(const weir_program *programs, size_t count,
                                              int64_t large_bytes, weir_result **out_result);

typedef struct weir_page_part {
  const char *title;
  const char *data; /* weir_result_data() of a plan */
} weir_page_part;
/* Plans as one page: weir_result_text() is HTML with all that it needs inside, to be opened from
 * disk. The first is shown; where there are several, a table compares them. Errors:
 * INVALID_ARGUMENT (a plan without data). */
WEIR_API WEIR_MUST_USE weir_status weir_page(const char *title, const weir_page_part *parts,
                                             size_t count, weir_result **out_result);

/* Whether a program shows what is looked for, a crash say: nonzero if so. text: StableHLO, `length`
 * bytes, NUL-terminated. */
typedef int (*weir_check)(void *user, const char *text, size_t length);
/* Makes a program small as long as `check` says that it shows what it shows: a reproducer.
 * weir_result_text() is the smallest found, a program that verifies; weir_result_explain() says how
 * small. What it computes changes. Errors: INVALID_ARGUMENT (does not parse or verify), NOT_FOUND
 * (the check fails for the program itself). Cost: a call of check per candidate, hundreds for
 * hundreds of ops. */
WEIR_API WEIR_MUST_USE weir_status weir_reduce(const char *text, size_t length, weir_check check,
                                               void *user, weir_result **out_result);

/* The handler of the custom call `weir_tile` that WEIR_TILE_AUTO and WEIR_TILE_ON put into
 * programs: an XLA_FFI_Handler of XLA's FFI C API, api_version 4, platform "cpu". Takes an
 * XLA_FFI_CallFrame, returns an XLA_FFI_Error or NULL. To be registered before such a program is
 * compiled. */
WEIR_API void *weir_tile_handler(void *call_frame);

/* The handler of the custom call `weir_progress` that loops begin each trip with where
 * weir_options.progress is set. As weir_tile_handler(). */
WEIR_API void *weir_progress_handler(void *call_frame);
/* Loops that run show how far they are, in a line on stderr if that is a terminal. Counted: as
 * often false as true shows nothing. */
WEIR_API void weir_show_progress(bool show);
/* The same for a caller that shows it by itself, and asks weir_running_loop() how far it is. */
WEIR_API void weir_watch_progress(bool watch);
/* A loop that runs. */
typedef struct weir_loop_progress {
  size_t struct_size;
  char label[80];      /* "jit_f, a.py:3": the program, and where its result comes from */
  int64_t done, total; /* slices */
  double seconds;      /* since it began */
} weir_loop_progress;
/* Of the loops that run and are watched or shown, the one that has run longest; false: none. From
 * any thread. */
WEIR_API bool weir_running_loop(weir_loop_progress *out_loop);
/* Whether SIGINT, besides what its handler does, ends kernels and loops that show progress, with
 * CANCELLED. For Python, where the handler's KeyboardInterrupt waits for them to end. */
WEIR_API void weir_interrupts(bool end_loops);
/* Waits until no kernel is being made ahead of its first call, and lets none be from now on. To be
 * called before the process ends: threads of ours must not use LLVM while its destructors run. */
WEIR_API void weir_end_kernels(void);

/* Reads WEIR_CACHE_DIR, WEIR_DUMP_TO, WEIR_LLVM, WEIR_NUM_THREADS, XDG_CACHE_HOME and HOME again.
 * The first other call reads them, and nothing else does: threads of weir's and XLA's that want one
 * must not meet a setenv() (not thread-safe by POSIX). Nobody may call setenv() meanwhile. */
WEIR_API void weir_read_environment(void);

/* What plans and kernels are made for. machine: "host", or an instruction set that decides nothing
 * by the computer at hand: "x86-64-v3"; overrides may follow:
 * "x86-64-v3,cores=8,l2=1MiB,clock=3.2". Or a GPU or TPU: "h100". NULL, "": the host, with the
 * rates that weir_machine_keep() kept. weir_result_text() is the same in full, then a table for
 * people. Errors: INVALID_ARGUMENT, whose message names what is accepted. */
WEIR_API WEIR_MUST_USE weir_status weir_machine_describe(const char *machine,
                                                         weir_result **out_result);

/* What XLA does on the host, on all cores: predictions of time start from it. 0: not measured. */
typedef struct weir_machine_rates {
  size_t struct_size;
  double products; /* of f32 matrices of 1024 x 1024, in Gflop/s */
  double fused;    /* exponentials of f32 in a fusion with a sum, in G a second */
  double memory;   /* a sum over f32 that come from memory, in GB/s */
} weir_machine_rates;
/* Keeps these, with the clock, which it measures in half a millisecond, for all processes of this
 * user. Errors: UNIMPLEMENTED (nothing can be kept: WEIR_CACHE_DIR), INVALID_ARGUMENT. */
WEIR_API WEIR_MUST_USE weir_status weir_machine_keep(const weir_machine_rates *by_xla);
/* Whether that is worth while: it was not done for the host as it is, and something can be kept. */
WEIR_API bool weir_machine_wants_rates(void);

/* GPUs and TPUs that weir_options.machine may name. */
typedef struct weir_device_info {
  size_t struct_size;
  const char *name;     /* "h100" */
  const char *platform; /* "cuda" */
  const char *kind;     /* as JAX calls it: device_kind */
  const char *target;   /* with which its XLA compiles for one that is not here: the text of a
                           GpuTargetConfigProto, or a TPU topology; NULL: there is none */
  int64_t memory_bytes;
} weir_device_info;
/* false where index is out of range. The strings are static. */
WEIR_API bool weir_device(int32_t index, weir_device_info *out_info);

/* Parses "1000000", "512MiB", "1.5GB", "2 kB": k/M/G/T powers of 1000, Ki/Mi/Gi/Ti of 1024, with or
 * without B, also in small letters (gb, gib, gi; k). What means different things to different
 * people is not guessed: m, g, t alone and Gb (bits). Anything else (also negative, empty) is
 * INVALID_ARGUMENT and leaves *out_bytes alone. */
WEIR_API WEIR_MUST_USE weir_status weir_parse_bytes(const char *text, int64_t *out_bytes);
WEIR_API const char *weir_status_name(weir_status status);
WEIR_API const char *weir_version(void);

#ifdef __cplusplus
}
#endif
#endif
