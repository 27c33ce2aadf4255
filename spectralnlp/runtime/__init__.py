"""Where and how data is read and moments are added up: corpora, moments, engines, checkpoints, spilling.

This is the one door: other packages import from here, never from the modules.
"""

from spectralnlp.runtime.checkpoint import current_checkpoint, load_moments, save_moments, use_checkpoint
from spectralnlp.runtime.corpus import Batch, Corpus, FileCorpus, InMemoryCorpus, MappedCorpus, Partition
from spectralnlp.runtime.engine import (
    Engine,
    ProcessesEngine,
    SerialEngine,
    ThreadsEngine,
    accumulate,
    current_engine,
    in_window,
    map_ordered,
    positive_jobs,
    use_engine,
)
from spectralnlp.runtime.files import (
    FileSystem,
    Location,
    decode_lines,
    expand_inputs,
    is_address,
    is_zipped,
    open_binary,
    open_text,
)
from spectralnlp.runtime.journal import map_resumable
from spectralnlp.runtime.moments import Array, Counts, Joint, Key, Moments
from spectralnlp.runtime.reduction import (
    FAN_IN,
    BadPartition,
    MergeTree,
    Observer,
    Part,
    TolerantCorpus,
    skip_bad_partitions,
)
from spectralnlp.runtime.replay_logs import ReplayLog, pack_names, unpack_names
from spectralnlp.runtime.spill import (
    Longs,
    Memory,
    Run,
    current_memory,
    merge_runs,
    parse_size,
    sum_by_key,
    use_memory,
    writing,
)

__all__ = [
    "FAN_IN",
    "Array",
    "BadPartition",
    "Batch",
    "Corpus",
    "Counts",
    "Engine",
    "FileCorpus",
    "FileSystem",
    "InMemoryCorpus",
    "Joint",
    "Key",
    "Location",
    "Longs",
    "MappedCorpus",
    "Memory",
    "MergeTree",
    "Moments",
    "Observer",
    "Part",
    "Partition",
    "ProcessesEngine",
    "ReplayLog",
    "Run",
    "SerialEngine",
    "ThreadsEngine",
    "TolerantCorpus",
    "accumulate",
    "current_checkpoint",
    "current_engine",
    "current_memory",
    "decode_lines",
    "expand_inputs",
    "first_log",
    "in_window",
    "is_address",
    "is_zipped",
    "load_moments",
    "map_ordered",
    "map_resumable",
    "merge_runs",
    "open_binary",
    "open_text",
    "pack_names",
    "parse_size",
    "positive_jobs",
    "save_moments",
    "skip_bad_partitions",
    "sum_by_key",
    "unpack_names",
    "use_checkpoint",
    "use_engine",
    "use_memory",
    "writing",
]
