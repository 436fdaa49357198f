"""What goes wrong with reports."""


class ReportError(RuntimeError):
    """A report cannot be made; the message says what to do."""
