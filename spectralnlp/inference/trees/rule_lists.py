"""Lists of the numbers of tensors that are nearly all zeros.

Of tensors in a model folder only those of the rules that a sentence's forest has are multiplied out.
"""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import kernel_part
from spectralnlp.parameters.expansion import multiply_out

# Share of a tensor's numbers that are not negligible up to which it becomes a list.
MOST_LISTED = 0.06

# Numbers of states of two children up to whose product a list can name a pair of states.
_MOST_COLUMNS = 1 << 16


@kernel_part
def make_ready(rules, wanted):
    """Write the tensors or lists of rules where there are none yet; threads may do so at the same time.

    Args:
        rules: DenseRules.
        wanted: int32; indices of binary rules, negative numbers among them are passed over.
    """
    most = 0
    for rule in wanted:
        if rule >= 0 and not rules.is_ready[rule]:
            most = max(most, rules.binary_offsets[rule + 1] - rules.binary_offsets[rule])
    if most == 0:
        return
    work, tensor = np.empty((2, most)), np.empty(most, rules.binary.dtype)
    for rule in wanted:
        if rule < 0 or rules.is_ready[rule]:
            continue
        at = rules.binary_offsets[rule]
        size = rules.binary_offsets[rule + 1] - at
        if rules.is_there[rule]:
            for place in range(size):
                tensor[place] = rules.binary[at + place]
        else:
            multiply_out(rules.factors, rule, tensor, work)
        rules.is_list[rule] = _make_list(rules, rule, tensor[:size])
        if not (rules.is_list[rule] or rules.is_there[rule]):
            for place in range(size):
                rules.binary[at + place] = tensor[place]
            rules.is_there[rule] = True
        rules.is_ready[rule] = True


@kernel_part
def _make_list(rules, rule, tensor):
    """Write the list of a tensor that is nearly all zeros; return whether it is."""
    shape = rules.factors.shapes[rule]
    n_rows, n_columns = np.int64(shape[0]), np.int64(shape[1]) * shape[2]
    largest = 0.0
    for value in tensor:
        largest = max(largest, abs(value))
    limit, count = rules.negligible * largest, 0
    for value in tensor:
        if abs(value) > limit:
            count += 1
    # Lists lie where the share of the tensors before them leaves room.
    at = np.int64(MOST_LISTED * rules.binary_offsets[rule])
    room = np.int64(MOST_LISTED * rules.binary_offsets[rule + 1]) - at
    if count > room or n_columns > _MOST_COLUMNS:
        return False
    for h in range(n_rows):
        rules.row[rules.first_row[rule] + h] = at
        for column in range(n_columns):
            value = tensor[h * n_columns + column]
            if abs(value) > limit:
                rules.column[at], rules.value[at] = column, value
                at += 1
    rules.row[rules.first_row[rule] + n_rows] = at
    return True
