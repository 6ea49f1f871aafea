"""``tf.lookup.experimental``: tables that change."""

from runtime.ops.containers.lookup_tables import MutableHashTable as MutableHashTable
