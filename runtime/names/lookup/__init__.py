"""``tf.lookup``: tables from keys to values. See docs/records.md."""

from runtime.core.missing import advise as _advise
from runtime.names.lookup import experimental as experimental
from runtime.ops.containers.lookup_tables import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
    StaticHashTable as StaticHashTable,
    StaticVocabularyTable as StaticVocabularyTable,
    TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
)

_advise(experimental, "tf.lookup.experimental")
