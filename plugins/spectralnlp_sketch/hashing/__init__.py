"""N-grams of words and characters as columns, without a vocabulary.

A column is a public function of the n-gram: FNV-1a of 64 bits over the letter ``w`` or ``c`` and the
n-gram in UTF-8 (words with one blank between them), the two halves xored, the lowest bits taken. Where there
are both kinds, words have the lower half of the columns and characters the upper half.
"""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
