# A match statement | score([1, 6, 9, 10, 15, 4])
def score(numbers):
    points = 0
    for n in numbers:
        match n % 5:
            case 0 if n > 10:
                break
            case 0:
                points += 10
            case 1 | 4:
                points += n
            case _:
                points -= 1
    return points
