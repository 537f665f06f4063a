/* For LD_PRELOAD: what runs in the process is told that the processor has AVX2 and no AVX-512.
 *
 * Linux lets a process fault on CPUID where the processor can (arch_prctl(2), ARCH_SET_CPUID;
 * "cpuid_fault" in /proc/cpuinfo). Each CPUID comes here then. It is done as it is, and what a
 * processor with AVX2 alone does not have is taken out of the answer. Threads inherit this;
 * programs that are started load this library anew.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

typedef struct answer {
  uint32_t eax, ebx, ecx, edx;
} answer;

enum { CPUID_BYTES = 2 };

static long allow_cpuid(long is_allowed) {
  return syscall(SYS_arch_prctl, ARCH_SET_CPUID, is_allowed);
}

static answer processor(uint32_t leaf, uint32_t subleaf) {
  answer a;
  __asm__ volatile("cpuid"
                   : "=a"(a.eax), "=b"(a.ebx), "=c"(a.ecx), "=d"(a.edx)
                   : "a"(leaf), "c"(subleaf));
  return a;
}

#define BIT(n) (UINT32_C(1) << (n))

/* Leaf 7 names AVX-512, AMX and what came with them (Intel's manual, volume 2, CPUID). */
static answer without_avx512(uint32_t leaf, uint32_t subleaf, answer a) {
  if (leaf != 7) return a;
  if (subleaf != 0) return (answer){0}; /* AVX-VNNI, AVX-512 in bf16, AMX in fp16, AVX10 */
  a.ebx &= ~(BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31));
  a.ecx &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));
  a.edx &= ~(BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25));
  return a;
}

/* ---- the signal: others may want it, too, and have it once something else faults ---- */
typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
static struct sigaction others; /* SIG_DFL */

static sigaction_function *real_sigaction(void) {
  return (sigaction_function *)dlsym(RTLD_NEXT, "sigaction");
}

int sigaction(int number, const struct sigaction *wanted, struct sigaction *old) {
  if (number != SIGSEGV) return real_sigaction()(number, wanted, old);
  if (old) *old = others;
  if (wanted) others = *wanted;
  return 0;
}

sighandler_t signal(int number, sighandler_t handler) {
  struct sigaction wanted = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
  sigemptyset(&wanted.sa_mask);
  return sigaction(number, &wanted, &old) ? SIG_ERR : old.sa_handler;
}

static void on_fault(int number, siginfo_t *info, void *context) {
  greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
  static const uint8_t CPUID[CPUID_BYTES] = {0x0f, 0xa2};
  if (info->si_code != SI_KERNEL || memcmp((void *)r[REG_RIP], CPUID, CPUID_BYTES)) {
    real_sigaction()(number, &others, NULL); /* the instruction fails once more, and is theirs */
    return;
  }
  uint32_t leaf = (uint32_t)r[REG_RAX], subleaf = (uint32_t)r[REG_RCX];
  allow_cpuid(1);
  answer a = without_avx512(leaf, subleaf, processor(leaf, subleaf));
  allow_cpuid(0);
  r[REG_RAX] = a.eax, r[REG_RBX] = a.ebx, r[REG_RCX] = a.ecx, r[REG_RDX] = a.edx;
  r[REG_RIP] += CPUID_BYTES;
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigemptyset(&ours.sa_mask);
  if (!real_sigaction()(SIGSEGV, &ours, NULL) && !allow_cpuid(0)) return;
  fputs("this processor, or its system, can't fault on CPUID\n", stderr);
  _exit(1);
}
