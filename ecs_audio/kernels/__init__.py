"""Kernels: functions over arrays, compiled by numba. Arrays in, arrays out."""
