#!/usr/bin/env bash
# Train the models that ship. Usage: grammars/train.sh CORPORA, the folder that holds treebanks/, tagging/ and text/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
corpora=${1:?the folder with treebanks/, tagging/ and text/}
treebanks=$corpora/treebanks
ewt=$corpora/tagging/ewt/en_ewt-ud-train.conllu

# GUM without the genres whose texts are not for commercial use.
open=()
for file in "$treebanks"/gum/train/*; do
    [[ $file =~ GUM_(fiction|essay|letter|podcast|whow)_ ]] || open+=("$file")
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ship() {  # ship NAME TAGGER ESTIMATOR ARGUMENTS…: train, and store in half precision
    local name=$1 tagger=$2
    shift 2
    spectralnlp train "$@" --card "$name.card.md" -o "$work/$name"
    python - "$work/$name" "spectralnlp_grammars/${name//-/_}" "$tagger" <<'PYTHON'
import sys
from dataclasses import replace

import spectralnlp

model = spectralnlp.load(sys.argv[1])
if sys.argv[3] != "none":
    model = replace(model, tagger=sys.argv[3])
model.save(sys.argv[2], compact=True)
PYTHON
}

parser() {  # parser NAME TAGGER TREES AND SETTINGS…
    ship "$1" "$2" lpcfg "${@:3}" --set preset=fast --set pruner_states=4 --set eigenwords="$work/vectors40"
}

# Vectors, from all words whose licences are open.
python - "$ewt" "${open[@]}" "$treebanks"/craft/train > "$work/words.txt" <<'PYTHON'
import sys

from spectralnlp.tasks.tagging import TaggingTask

for sentence in TaggingTask().read(sys.argv[1:]):
    print(" ".join(word.replace(" ", "_") for word in sentence.words))
PYTHON
gzip -dc "$corpora"/text/english_open.txt.gz >> "$work/words.txt"
for dimensions in 40 30; do  # of parsers, of taggers
    spectralnlp train eigenwords "$work/words.txt" --reader tokens --set min_count=4 \
        --set dimensions=$dimensions --set contexts=2000 -o "$work/vectors$dimensions"
done

ship en-tagger none tagger "$ewt" "${open[@]}" --set column=xpos --set eigenwords="$work/vectors30"
ship en-upos none tagger "$ewt" --set eigenwords="$work/vectors30"
parser en en-tagger "${open[@]}" --set binarisations=head+left+right --set n_states=20
parser en-biomedical none "$treebanks"/craft/train --set binarisations=head+left --set n_states=20

ship is-tagger none tagger "$treebanks"/icepahc/train
ship is none lpcfg "$treebanks"/icepahc/train --set preset=fast --set binarisations=left+right --set pruner_states=4
