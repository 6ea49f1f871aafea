# An assertion that fails | mean_root([4.0, 9.0, -1.0])
def mean_root(numbers):
    total = 0.0
    for x in numbers:
        assert x >= 0, f"{x} is negative"
        total += x**0.5
    return total / len(numbers)
