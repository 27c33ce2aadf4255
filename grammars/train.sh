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
spectralnlp train lpcfg-clusters "${open[@]}" --set binarisations=head+left+right --set n_clusters=14 \
    --set pruner_states=4 --card en.card.md -o spectralnlp_grammars/en
