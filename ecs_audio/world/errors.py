"""What a reader raises when a file cannot be trusted, and what a writer warns of."""


class WorldFormatError(ValueError):
    """A world or material file is damaged, hostile or of a kind that is not read.

    The message is one sentence that names the file, the offset or chunk, and what was wrong.
    """


class TooLargeError(WorldFormatError):
    """All parts of a file together need more time or memory than one load may take."""


class OutsideError(ValueError):
    """There is nothing around the point that was to be loaded; the message says where the world is."""


class WorldWarning(UserWarning):
    """A world file was written without something that its format has no place for."""
