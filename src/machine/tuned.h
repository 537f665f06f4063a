/* The numbers of machine/tuned.def, as TUNED_name. */
#ifndef WEIR_MACHINE_TUNED_H
#define WEIR_MACHINE_TUNED_H

#define REAL(name, value, what, measured_by) static const double TUNED_##name = value;
#define WHOLE(name, value, what, measured_by) enum { TUNED_##name = value };
#include "machine/tuned.def"

#endif
