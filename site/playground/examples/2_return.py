# An early return | first_above([3, 1, 4, 1, 5, 9, 2, 6], 4)
def first_above(numbers, limit):
    """The first number above the limit, or -1."""
    for number in numbers:
        if number > limit:
            return number
    return -1
