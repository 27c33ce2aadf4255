"""Sections of ``benchmarks.pins``, which checks that results stay the same between versions of the code.

The modules use relative imports, and import spectralnlp only when they compute something, so that
``benchmarks/pins.py`` can also be run by its path with another installation of spectralnlp.
"""
