# A list that grows | primes(50)
def primes(limit):
    found = []
    for n in range(2, limit):
        for prime in found:
            if n % prime == 0:
                break
        else:
            found.append(n)
    return len(found), sum(found)
