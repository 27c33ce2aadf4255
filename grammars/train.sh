#!/usr/bin/env bash
# Train the grammars that ship. Usage: grammars/train.sh CORPORA, the folder that holds treebanks/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
treebanks=${1:?the folder with treebanks/}/treebanks

# GUM without the genres whose texts are not for commercial use.
open=()
for file in "$treebanks"/gum/train/*; do
    [[ $file =~ GUM_(fiction|essay|letter|podcast|whow)_ ]] || open+=("$file")
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ship() {  # ship NAME BINARISATIONS TREES…: train, and store in half precision
    local name=$1 binarisations=$2
    shift 2
    spectralnlp train lpcfg-clusters "$@" --set binarisations="$binarisations" --set n_clusters=24 --set pruner_states=4 \
        --card "$name.card.md" -o "$work/$name"
    python -c 'import sys, spectralnlp; spectralnlp.load(sys.argv[1]).save(sys.argv[2], compact=True)' \
        "$work/$name" "spectralnlp_grammars/${name//-/_}"
}

ship en head+left+right "${open[@]}"
ship en-biomedical head+left "$treebanks"/craft/train
