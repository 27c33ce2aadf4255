"""Command line of this plugin: the command ``spectralnlp annotate``."""
