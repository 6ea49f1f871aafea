# A loop with a condition in it | collatz(27)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:  # even
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
