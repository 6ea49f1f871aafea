"""Reads damaged copies of a checkpoint: ``python corruption.py PREFIX SEED COUNT``.

Each copy has to be refused with an error of ours, or to give the very values that were
saved. The process may not use much memory, nor compile, import or start anything.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from random import Random

import runtime as tf
from runtime.training.checkpoints.reader import CheckpointReader

NEVER = ("compile", "exec", "import", "pickle.find_class", "os.system", "os.exec")
SPARE = 64 << 20


def damage(data: bytes, random: Random) -> bytes:
    kind = random.randrange(7)
    at = random.randrange(len(data))
    # The header is where damage may do harm.
    if random.random() < 0.5:
        at = random.randrange(min(len(data), 8 + int.from_bytes(data[:8], "little")))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + random.randbytes(1) + data[at + 1 :]
    if kind == 3:
        return data[:at] + random.randbytes(random.randrange(1, 20)) + data[at:]
    if kind == 4:
        return data[:at] + data[at + random.randrange(1, 20) :]
    if kind == 5:
        size = random.randrange(1, 40)
        return data[:at] + bytes(size) + data[at + size :]
    digits = [i for i in range(8, len(data)) if 48 <= data[i] < 58][:4000]
    at = random.choice(digits)
    return data[:at] + random.choice([b"9" * 19, b"-1", b"1e9", b"0"]) + data[at + 1 :]


def values(reader: CheckpointReader) -> dict[str, bytes]:
    found = {}
    for name in reader.get_variable_to_dtype_map():
        value = reader.get_tensor(name)
        text = repr(value.tolist()) if hasattr(value, "tolist") else repr(value)
        found[name] = (text, reader.get_variable_to_dtype_map()[name].name)
    return found


def main(prefix: str, seed: int, count: int) -> None:
    whole = Path(prefix + ".safetensors").read_bytes()
    expected = values(tf.train.load_checkpoint(prefix))
    target = Path(prefix + "-damaged.safetensors")
    variables = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (variables + SPARE, variables + SPARE))
    seen = set()

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event in NEVER:
            seen.add(event)

    random, refused = Random(seed), 0
    for number in range(count):
        if number == 1:  # What is loaded on first use is loaded now.
            sys.addaudithook(refuse)
        target.write_bytes(damage(whole, random))
        try:
            found = values(tf.train.load_checkpoint(str(target)))
        except (tf.errors.DataLossError, tf.errors.NotFoundError) as error:
            assert str(target) in str(error)  # noqa: PT017
            refused += 1
            continue
        assert found == expected, number
    os.unlink(target)
    assert not seen, seen
    print(refused)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
