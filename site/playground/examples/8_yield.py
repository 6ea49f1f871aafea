# What stays as it was written | total([1, -2, 3])
def positive(numbers):
    for n in numbers:
        if n > 0:  # a generator is not staged: see the mark
            yield n


def total(numbers):
    found = 0
    for n in numbers:
        if n > 0:
            found += n
    return found
