"""What compiled programs need, and limits that leave them a share of it."""


def needs_of(program):
    """Bytes of arguments, results and temporaries, by XLA's report of the compiled program."""
    m = program.memory_analysis()
    return m.argument_size_in_bytes, m.output_size_in_bytes, m.temp_size_in_bytes


def limit_of(argument_bytes, output_bytes, temp_bytes, share, least_bytes=0):
    """With room for a share of the temporaries, and for so many bytes of them in any case."""
    return argument_bytes + output_bytes + max(least_bytes, int(temp_bytes * share))
