"""Situations to be heard, measured and tested, one file each; those that begin with _ only build worlds."""
