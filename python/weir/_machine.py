"""What XLA does on this computer: measured once, at first use, and kept (weir_machine_keep).

By the clock or in CPU time, whichever is less: right on a busy computer, too. 0.3 s at most,
compilation included.
"""

import os
import statistics
import time

import jax
import numpy as np
from weir import _jax, _library

_is_done = False  # in this process, whatever came of it
_SIDE, _ROWS, _ELEMENTS = 1024, 4096, 8 << 20
_PRODUCT = f"""module @weir_measures_products {{
  func.func public @main(%x: tensor<{_SIDE}x{_SIDE}xf32>) -> tensor<{_SIDE}x{_SIDE}xf32> {{
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
      : (tensor<{_SIDE}x{_SIDE}xf32>, tensor<{_SIDE}x{_SIDE}xf32>) -> tensor<{_SIDE}x{_SIDE}xf32>
    return %0 : tensor<{_SIDE}x{_SIDE}xf32>
  }}
}}"""
_EXPONENTIALS = f"""module @weir_measures_exponentials {{
  func.func public @main(%x: tensor<{_ROWS}xf32>) -> tensor<{_ROWS}xf32> {{
    %0 = stablehlo.broadcast_in_dim %x, dims = [0]
      : (tensor<{_ROWS}xf32>) -> tensor<{_ROWS}x{_SIDE}xf32>
    %y = stablehlo.slice %x [0:{_SIDE}] : (tensor<{_ROWS}xf32>) -> tensor<{_SIDE}xf32>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1]
      : (tensor<{_SIDE}xf32>) -> tensor<{_ROWS}x{_SIDE}xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<{_ROWS}x{_SIDE}xf32>
    %3 = stablehlo.exponential %2 : tensor<{_ROWS}x{_SIDE}xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<{_ROWS}x{_SIDE}xf32>, tensor<f32>) -> tensor<{_ROWS}xf32>
    return %4 : tensor<{_ROWS}xf32>
  }}
}}"""
_READING = f"""module @weir_measures_reading {{
  func.func public @main(%x: tensor<{_ELEMENTS}xf32>) -> tensor<f32> {{
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<{_ELEMENTS}xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }}
}}"""
_RATES = {  # program, shape of its argument, what it does in one run, how often it is run
    "products": (_PRODUCT, (_SIDE, _SIDE), 2 * _SIDE**3, 3),
    "fused": (_EXPONENTIALS, (_ROWS,), _ROWS * _SIDE, 9),
    "memory": (_READING, (_ELEMENTS,), 4 * _ELEMENTS, 9),
}


def measure(device, context):
    """Measures what this computer does, unless that is known. device: a jax.Device of platform cpu;
    context: of MLIR. Whatever fails is not measured.
    """
    global _is_done
    if _is_done or not _library.machine_wants_rates():
        return
    _is_done, rates = True, {}
    for name, program in _RATES.items():
        try:
            rates[name] = _rate(device, context, *program)
        except Exception:  # another jax, a device without room: predictions are coarser
            rates[name] = 0.0
    _library.keep_machine(**rates)


def _rate(device, context, program, shape, work, trials):
    """In G a second, as all cores would."""
    options = _jax.get_compile_options(
        num_replicas=1, num_partitions=1, device_assignment=np.array([[device.id]])
    )
    run = device.client.compile_and_load(
        _jax.ir.Module.parse(program, context=context),
        executable_devices=_jax.xla_client.DeviceList((device,)),
        compile_options=options,
    )
    argument = jax.device_put(np.full(shape, 0.5, np.float32), device)
    return work * 1e-9 / _seconds_of([_timed(run, argument) for _ in range(trials)], _cores())


def _cores():
    return len(os.sched_getaffinity(0))


def _timed(run, argument):
    """Seconds of one run: by the clock, and of CPU time in all threads."""
    wall, cpu = time.perf_counter(), time.process_time()
    for result in run.execute([argument]):
        result.block_until_ready()
    return time.perf_counter() - wall, time.process_time() - cpu


def _seconds_of(runs, cores):
    """By the clock, or as long as all cores would have had to work: others may use them, and XLA's
    threads may wait for each other in a loop. The system counts the CPU time of other threads up to
    4 ms late, so single runs may seem to take half of it: that is the median's, the clock's the least.
    """
    walls, cpus = zip(*runs, strict=True)
    return min(min(walls), statistics.median(cpus) / cores)
