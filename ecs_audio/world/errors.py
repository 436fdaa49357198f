"""What a reader raises when a file cannot be trusted."""


class WorldFormatError(ValueError):
    """A world or material file is damaged, hostile or of a kind that is not read.

    The message is one sentence that names the file, the offset or chunk, and what was wrong.
    """
