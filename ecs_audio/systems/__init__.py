"""One system a file, in the order of the tick: each reads some columns and writes others."""
