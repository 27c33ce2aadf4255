"""Training of parsers: grammars, and the components that stand around any grammar.

`parsers` names the parsers that can be trained, `trainer` trains them, and each component is a file.
"""

# The public modules. Nothing is imported here: parsing needs none of it.
__all__ = ["component", "parsers", "trainer"]
