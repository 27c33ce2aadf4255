"""Training of parsers: grammars, and further components that work with any grammar.

`parsers` lists the parsers that can be trained, `trainer` trains them, and each component has its own module.
"""

# The public modules. Nothing is imported here, because parsing does not need them.
__all__ = ["component", "parsers", "trainer"]
