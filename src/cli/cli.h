/* The `weir` command: what its subcommands share. It knows the library by weir.h alone.
 *
 * Exit codes: 0 done, 1 the program or a file is bad, 2 wrong usage, 3 the limit can't be held
 * (RESOURCE_EXHAUSTED). Messages go to stderr.
 */
#ifndef WEIR_CLI_CLI_H
#define WEIR_CLI_CLI_H
#include <stdio.h>

#include "weir/weir.h"

enum { CLI_OK = 0, CLI_ERROR = 1, CLI_USAGE = 2, CLI_EXHAUSTED = 3 };

enum { CLI_MOST_DEVICES = 16 };
typedef struct cli_devices {
  int count;
  weir_device_info at[CLI_MOST_DEVICES];
} cli_devices;

typedef struct cli_args {
  const char *input;  /* "-": stdin */
  const char *output; /* "-": stdout */
  weir_options options;
  const char *check;  /* the command of weir reduce */
  const char *limits; /* rows of a table: sizes with commas between, or "auto"; NULL: none */
  const char *trace;  /* where the trace goes; NULL: nowhere */
  const char *form;   /* "text", "bytecode"; NULL: not said */
  const char *target; /* of bytecode, as weir_options.bytecode; NULL: not said */
  cli_devices devices;
  bool help;
} cli_args;

typedef struct cli_command {
  const char *name;
  const char *usage;                 /* the line after "usage: weir " */
  const char *summary;               /* one line of the list of commands */
  const char *help;                  /* what the command does: a paragraph, ends with a newline */
  unsigned options;                  /* which options of args.c it takes: CLI_OPT_... */
  int (*run)(int argc, char **argv); /* the arguments after the command's name; NULL: */
  int (*run_read)(cli_args *args);   /* the same, read */
} cli_command;

extern const cli_command cli_opt, cli_plan, cli_graph, cli_reduce, cli_report, cli_machine,
    cli_doctor;

/* ---- args.c: arguments ---- */
enum {
  CLI_OPT_OUTPUT = 1,
  CLI_OPT_SIZES = 2,
  CLI_OPT_PASSES = 4,
  CLI_OPT_DEBUG = 8,
  CLI_OPT_TABLE = 16,
  CLI_OPT_CHECK = 32,
  CLI_OPT_TRACE = 64,
  CLI_OPT_DEVICE = 128,
  CLI_OPT_DEVICES = 256,
  CLI_OPT_EMIT = 512
};

/* Reads `argv` into *out_args; CLI_OK, or CLI_USAGE after a message. */
int cli_parse(const cli_command *command, int argc, char **argv, cli_args *out_args);
void cli_print_help(const cli_command *command);
/* For a device the question is what fits it: nine tenths of its memory, as "auto" is elsewhere.
 * False: the machine is no device. */
bool cli_limit_by_device(weir_options *options);
/* One message and how to get help; returns CLI_USAGE. */
int cli_usage_error(const cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- files.c ---- */
/* The whole file, or stdin, NUL-terminated; the caller frees it. NULL after a message. */
char *cli_read(const char *path, size_t *out_length);
/* Writes all or nothing: a file that was there before stays as it was if anything fails. False
 * after a message. */
bool cli_write(const char *path, const char *text, size_t length);
/* "<stdin>" for "-" */
const char *cli_display_name(const char *path);

/* ---- run.c ---- */
/* Rewrites the program of args->input. Returns the exit code; on CLI_OK and CLI_EXHAUSTED
 * *out_result is the caller's to destroy, and *out_text (the input, if out_text is not NULL) to
 * free; else they are NULL. Prints the message of an error. */
int cli_rewrite(const cli_args *args, weir_result **out_result, char **out_text,
                size_t *out_length);
/* The same of a program that was read. */
int cli_rewrite_text(const cli_args *args, const char *text, size_t length,
                     weir_result **out_result);

/* "1.07 GB": powers of 1000, three digits. In `room`, which it returns. */
enum { CLI_BYTES_ROOM = 24 };
const char *cli_bytes_text(char room[CLI_BYTES_ROOM], int64_t bytes);

/* ---- table.c ---- */
enum { CLI_MOST_LIMITS = 64 };
typedef struct cli_limits {
  bool automatic; /* between the minimum and the peak */
  int count;
  int64_t at[CLI_MOST_LIMITS];
} cli_limits;

/* "100MB,200MB" or "auto"; CLI_OK, or CLI_USAGE after a message. */
int cli_parse_limits(const cli_command *command, const char *list, cli_limits *out_limits);
/* What each limit makes of the program and costs. planned: the program's result, which has its
 * minimum if the limits are automatic. CLI_OK, or CLI_ERROR after a message. */
int cli_put_table(FILE *out, const cli_args *args, cli_limits limits, const char *input,
                  size_t length, const weir_result *planned);

/* The message of a failed call, as compilers print it. result: NULL if memory ran out. */
void cli_print_error(const char *path, weir_status status, const weir_result *result);

#endif
