#!/usr/bin/env bash
# Train the models that ship. Usage: grammars/train.sh CORPORA, the folder that holds treebanks/ and tagging/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
treebanks=${1:?the folder with treebanks/ and tagging/}/treebanks
ewt=$1/tagging/ewt/en_ewt-ud-train.conllu

# GUM without the genres whose texts are not for commercial use.
open=()
for file in "$treebanks"/gum/train/*; do
    [[ $file =~ GUM_(fiction|essay|letter|podcast|whow)_ ]] || open+=("$file")
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ship() {  # ship NAME ESTIMATOR ARGUMENTS…: train, and store in half precision
    local name=$1
    shift
    spectralnlp train "$@" --card "$name.card.md" -o "$work/$name"
    python -c 'import sys, spectralnlp; spectralnlp.load(sys.argv[1]).save(sys.argv[2], compact=True)' \
        "$work/$name" "spectralnlp_grammars/${name//-/_}"
}

parser() {  # parser NAME BINARISATIONS TREES…
    ship "$1" lpcfg-clusters "${@:3}" --set binarisations="$2" --set n_clusters=24 --set pruner_states=4
}

parser en head+left+right "${open[@]}"
parser en-biomedical head+left "$treebanks"/craft/train

# Vectors for the taggers, from all words whose licences are open.
python - "$ewt" "${open[@]}" "$treebanks"/craft/train > "$work/words.txt" <<'PYTHON'
import sys

from spectralnlp.tasks.tagging import TaggingTask

for sentence in TaggingTask().read(sys.argv[1:]):
    print(" ".join(word.replace(" ", "_") for word in sentence.words))
PYTHON
spectralnlp train eigenwords "$work/words.txt" --reader tokens --set min_count=2 --set dimensions=40 \
    --set contexts=2000 -o "$work/vectors"
ship en-tagger tagger "$ewt" "${open[@]}" --set column=xpos --set eigenwords="$work/vectors"
ship en-upos tagger "$ewt" --set eigenwords="$work/vectors"
