# Break, continue, else | smallest_divisor(91)
def smallest_divisor(n):
    divisor = 1
    while divisor * divisor < n:
        divisor += 1
        if divisor % 2 == 0 and divisor > 2:
            continue
        if n % divisor == 0:
            break
    else:
        divisor = n
    return divisor
