"""Sections of ``benchmarks.pins``.

The modules use relative imports, and import spectralnlp only when they compute something, so that
``benchmarks/pins.py`` can also be run by its path with another installation of spectralnlp.
"""
