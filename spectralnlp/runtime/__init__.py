"""Where and how data is read and moments are added up: corpora, moments, engines, checkpoints, spilling.

This is the one door: other packages import from here, never from the modules.
"""

from spectralnlp.runtime.checkpoint import load_part, save_part
from spectralnlp.runtime.context import (
    Execution,
    current_checkpoint,
    current_engine,
    current_execution,
    current_memory,
    executing,
    skip_bad_partitions,
    use_checkpoint,
    use_engine,
    use_memory,
)
from spectralnlp.runtime.corpus import (
    Batch,
    Corpus,
    FileCorpus,
    InMemoryCorpus,
    MappedCorpus,
    Partition,
    ReiterableCorpus,
    StreamCorpus,
    as_corpus,
)
from spectralnlp.runtime.counts import Counts, Key
from spectralnlp.runtime.engine import (
    Engine,
    ProcessesEngine,
    SerialEngine,
    ThreadsEngine,
    in_window,
    positive_jobs,
)
from spectralnlp.runtime.example_logs import ExampleLog, Items
from spectralnlp.runtime.files import (
    LONGEST_LINE,
    FileSystem,
    Inputs,
    Location,
    OnBad,
    decode_lines,
    expand_inputs,
    is_address,
    is_zipped,
    open_binary,
    open_text,
    read_short_text,
    too_long_line,
    unzipped,
)
from spectralnlp.runtime.interrupts import held_interrupts
from spectralnlp.runtime.journal import map_resumable
from spectralnlp.runtime.memory import require_room, reserve_blas_buffers
from spectralnlp.runtime.moments import FAN_IN, Array, Joint, Moments
from spectralnlp.runtime.numbering import Numbering
from spectralnlp.runtime.pipes import rereadable
from spectralnlp.runtime.records import as_record_corpus, take_field
from spectralnlp.runtime.reduction import (
    BadPartition,
    MergeTree,
    Observer,
    Part,
    SkippingCorpus,
    SkipPolicy,
)
from spectralnlp.runtime.replay_logs import (
    ReplayLog,
    checked_names,
    pack_names,
    places_of,
    slices_of,
    unpack_names,
)
from spectralnlp.runtime.scratch import concatenated, scratch_array, spilled, trim_memory
from spectralnlp.runtime.spill import (
    Longs,
    Memory,
    Run,
    merge_runs,
    parse_size,
    sum_by_key,
    writing,
)
from spectralnlp.runtime.stored_moments import MOST_COUNT
from spectralnlp.runtime.verbs import accumulate, map_kernels, map_ordered

__all__ = [
    "FAN_IN",
    "LONGEST_LINE",
    "MOST_COUNT",
    "Array",
    "BadPartition",
    "Batch",
    "Corpus",
    "Counts",
    "Engine",
    "ExampleLog",
    "Execution",
    "FileCorpus",
    "FileSystem",
    "InMemoryCorpus",
    "Inputs",
    "Items",
    "Joint",
    "Key",
    "Location",
    "Longs",
    "MappedCorpus",
    "Memory",
    "MergeTree",
    "Moments",
    "Numbering",
    "Observer",
    "OnBad",
    "Part",
    "Partition",
    "ProcessesEngine",
    "ReiterableCorpus",
    "ReplayLog",
    "Run",
    "SerialEngine",
    "SkipPolicy",
    "SkippingCorpus",
    "StreamCorpus",
    "ThreadsEngine",
    "accumulate",
    "as_corpus",
    "as_record_corpus",
    "checked_names",
    "concatenated",
    "current_checkpoint",
    "current_engine",
    "current_execution",
    "current_memory",
    "decode_lines",
    "executing",
    "expand_inputs",
    "held_interrupts",
    "in_window",
    "is_address",
    "is_zipped",
    "load_part",
    "map_kernels",
    "map_ordered",
    "map_resumable",
    "merge_runs",
    "open_binary",
    "open_text",
    "pack_names",
    "parse_size",
    "places_of",
    "positive_jobs",
    "read_short_text",
    "require_room",
    "rereadable",
    "reserve_blas_buffers",
    "save_part",
    "scratch_array",
    "skip_bad_partitions",
    "slices_of",
    "spilled",
    "sum_by_key",
    "take_field",
    "too_long_line",
    "trim_memory",
    "unpack_names",
    "unzipped",
    "use_checkpoint",
    "use_engine",
    "use_memory",
    "writing",
]
