# %% [markdown]
# # Forgetting a document
#
# Somebody wants their letter out of the model. A neural network would have to be trained again; a spectral model is
# solved from sums, and one can subtract.

# %%
from pathlib import Path
from tempfile import mkdtemp

from spectralnlp import HMM, changes, registry

lines = Path("corpora/text/tokenized.txt").read_text().splitlines()
letter, rest = lines[3:4], lines[:3] + lines[4:]
folder = Path(mkdtemp())
(folder / "all.txt").write_text("\n".join(lines) + "\n")
(folder / "letter.txt").write_text("\n".join(letter) + "\n")
(folder / "rest.txt").write_text("\n".join(rest) + "\n")
print(letter[0])

# %% [markdown]
# A model of sequences, with its moments kept. Then the letter is forgotten, and, to compare, another model never sees
# it.

# %%
task = registry.tasks.get("sequences")()


def learned(path):
    """A model of a text, and what is kept of it."""
    return changes.train("hmm", HMM(n_states=2), task.read([path]))


full = learned(folder / "all.txt")
without = changes.forget(full.kept, task.read([folder / "letter.txt"]))
never = learned(folder / "rest.txt")

# %% [markdown]
# Which words of the letter does each of them know? Those that stand elsewhere, too, it may keep.

# %%
words = letter[0].split()
for name, change in (
    ("with the letter", full),
    ("letter forgotten", without),
    ("never seen", never),
):
    print(
        f"{name:17}", [word for word in words if word in change.model.symbols]
    )

# %% [markdown]
# The last two models are equal, and not only in their words: every array is the same, to the byte.

# %%
for name, change in (("without", without), ("never", never)):
    change.save(folder / name)
same = (folder / "without/arrays.safetensors").read_bytes() == (
    folder / "never/arrays.safetensors"
).read_bytes()
print("the same bytes:", same)

# %% [markdown]
# Asked again, it says that there is nothing left to forget:

# %%
from spectralnlp.errors import SpectralError

try:
    changes.forget(without.kept, task.read([folder / "letter.txt"]))
except SpectralError as error:
    print(error.message.partition(": ")[2])

# %% [markdown]
# What is kept to make this possible reveals what was in the data: [updates and unlearning](../unlearning.md) says how
# much, and for which estimators forgetting is exact.
