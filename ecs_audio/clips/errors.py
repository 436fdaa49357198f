"""What can be wrong with a sound."""


class ClipError(ValueError):
    """A sound that cannot be used, or a name that no sound has; the message names it and says why."""


class ClipWarning(UserWarning):
    """A sound that is used otherwise than it was given."""
