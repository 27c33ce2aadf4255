# %% [markdown]
# # Trees with confidence
#
# A parser that gives one tree hides how sure it is. Here each constituent has its posterior: the share of the
# probability of the sentence that lies on trees with this constituent.

# %%
import spectralnlp

parser = spectralnlp.load("en")
(parse,) = parser.parse("The old man saw a dog with a telescope.")
parse

# %% [markdown]
# The drawing does not show it, but the numbers do. With `scores=True` they stand in the picture:

# %%
from IPython.display import HTML

HTML(parse.to_svg(scores=True))

# %% [markdown]
# Whose telescope is it? All constituents are as good as certain but one: that the dog has it.

# %%
for each in sorted(parse.constituents, key=lambda each: each.posterior):
    words = " ".join(parse.sentence.words[each.start : each.end])
    print(f"{each.posterior:.2f}  {each.label:3} {words}")

# %% [markdown]
# Another verb, another decision, or at least another degree of doubt. Constituents are named by their places, so two
# readings can be compared: where the phrase with the telescope is attached.

# %%
for verb in ("saw", "bought", "watched", "had"):
    sentence = f"The old man {verb} a dog with a telescope ."
    parse = parser.parse_tokens(sentence.split())
    dog = [
        each.posterior
        for each in parse.constituents
        if (each.label, each.start, each.end) == ("NP", 4, 9)
    ]
    print(
        f"{verb:8} with the dog: {f'{dog[0]:.2f}' if dog else 'not in the tree'}"
    )

# %% [markdown]
# How far can these numbers be trusted? [Reliability of
# posteriors](../lessons.md#posteriors) compares them with how often they are right.
