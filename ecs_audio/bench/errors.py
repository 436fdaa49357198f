"""What goes wrong with benchmarks."""


class BenchError(RuntimeError):
    """Benchmarks cannot be run, read or compared; the message says what to do."""
