"""The sections of ``benchmarks.pins``, a module each.

They import one another by relative names alone, and spectralnlp when something is computed, so that
``benchmarks/pins.py`` can also be run by its path with another installation of spectralnlp.
"""
