"""Palindromes, ciphers, pattern matching and other programs on strings."""

import string
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import groupby


def is_palindrome(text):
    """Decide whether the letters and digits of a text read the same backwards.

    >>> is_palindrome("A man, a plan, a canal: Panama")
    True
    >>> is_palindrome("hello")
    False
    >>> is_palindrome("")
    True
    """
    left, right = 0, len(text) - 1
    while left < right:
        if not text[left].isalnum():
            left += 1
        elif not text[right].isalnum():
            right -= 1
        elif text[left].lower() != text[right].lower():
            return False
        else:
            left += 1
            right -= 1
    return True


def longest_palindrome(text):
    """Return the first longest palindromic substring, growing around each centre.

    >>> longest_palindrome("babad")
    'bab'
    >>> longest_palindrome("forgeeksskeegfor")
    'geeksskeeg'
    >>> longest_palindrome("")
    ''
    """
    def grow(left, right):
        while left >= 0 and right < len(text) and text[left] == text[right]:
            left -= 1
            right += 1
        return text[left + 1:right]

    best = ""
    for centre in range(len(text)):
        for candidate in (grow(centre, centre), grow(centre, centre + 1)):
            if len(candidate) > len(best):
                best = candidate
    return best


def are_anagrams(first, second):
    """Decide whether two phrases use the same letters, ignoring case and spaces.

    >>> are_anagrams("Dormitory", "dirty room")
    True
    >>> are_anagrams("aab", "abb")
    False
    >>> are_anagrams("", " ")
    True
    """
    counts = defaultdict(int)
    for letter in first.lower().replace(" ", ""):
        counts[letter] += 1
    for letter in second.lower().replace(" ", ""):
        counts[letter] -= 1
    return all(count == 0 for count in counts.values())


def group_anagrams(words, minimum_size=1):
    """Group the words that are anagrams of each other, leaving out small groups.

    >>> group_anagrams(["eat", "tea", "tan", "ate", "nat", "bat"])
    [['eat', 'tea', 'ate'], ['tan', 'nat'], ['bat']]
    >>> group_anagrams(["eat", "tea", "bat"], 2)
    [['eat', 'tea']]
    >>> group_anagrams([])
    []
    """
    groups = {}
    for word in words:
        signature = "".join(sorted(word))
        groups.setdefault(signature, []).append(word)
    return [group for group in groups.values() if len(group) >= minimum_size]


def reverse_words(sentence, minimum_length=1):
    """Reverse every word that has at least the given number of characters.

    >>> reverse_words("stop the evil rat", 4)
    'pots the live rat'
    >>> reverse_words("ab cd")
    'ba dc'
    >>> reverse_words("")
    ''
    """
    return " ".join(
        word[::-1] if len(word) >= minimum_length else word
        for word in sentence.split()
    )


def rotate_string(text, steps):
    """Rotate a text to the left, or to the right for negative steps.

    >>> rotate_string("abcdef", 2)
    'cdefab'
    >>> rotate_string("abcdef", -1)
    'fabcde'
    >>> rotate_string("", 3)
    ''
    """
    if not text:
        return text
    steps %= len(text)
    return text[steps:] + text[:steps]


def caesar_cipher(text, shift):
    """Shift every letter of a text along the alphabet and keep everything else.

    >>> caesar_cipher("Hello, World!", 3)
    'Khoor, Zruog!'
    >>> caesar_cipher("abc", -1)
    'zab'
    >>> caesar_cipher("", 5)
    ''
    """
    result = []
    for character in text:
        if character.isupper():
            result.append(chr((ord(character) - ord("A") + shift) % 26 + ord("A")))
        elif character.islower():
            result.append(chr((ord(character) - ord("a") + shift) % 26 + ord("a")))
        else:
            result.append(character)
    return "".join(result)


def affine_cipher(text, a, b):
    """Encrypt the capital letters of a text by the map x -> a * x + b modulo 26.

    >>> affine_cipher("AFFINE CIPHER", 5, 8)
    'IHHWVC SWFRCP'
    >>> affine_cipher("XYZ", 1, 0)
    'XYZ'
    >>> affine_cipher("A", 13, 1)
    Traceback (most recent call last):
        ...
    ValueError: 13 has no inverse modulo 26
    """
    if a % 2 == 0 or a % 13 == 0:
        raise ValueError(f"{a} has no inverse modulo 26")
    alphabet = string.ascii_uppercase
    table = {letter: alphabet[(a * x + b) % 26] for x, letter in enumerate(alphabet)}
    return "".join(table.get(character, character) for character in text)


def vigenere_cipher(text, key, sign=1):
    """Encrypt (sign 1) or decrypt (sign -1) capital letters with a repeated key word.

    >>> vigenere_cipher("ATTACKATDAWN", "LEMON")
    'LXFOPVEFRNHR'
    >>> vigenere_cipher("LXFOPVEFRNHR", "LEMON", -1)
    'ATTACKATDAWN'
    >>> vigenere_cipher("ABC", "")
    Traceback (most recent call last):
        ...
    ValueError: the key must not be empty
    """
    if not key:
        raise ValueError("the key must not be empty")
    shifts = [string.ascii_uppercase.index(letter) for letter in key]
    encoded = ""
    position = 0
    for character in text:
        if character in string.ascii_uppercase:
            shift = sign * shifts[position % len(shifts)]
            encoded += chr((ord(character) - 65 + shift) % 26 + 65)
            position += 1
        else:
            encoded += character
    return encoded


def rail_fence_cipher(text, rails):
    """Write a text in a zigzag over several rails and read it rail by rail.

    >>> rail_fence_cipher("WEAREDISCOVERED", 3)
    'WECRERDSOEEAIVD'
    >>> rail_fence_cipher("HELLO", 1)
    'HELLO'
    >>> rail_fence_cipher("HELLO", 0)
    Traceback (most recent call last):
        ...
    ValueError: at least one rail is needed
    """
    if rails < 1:
        raise ValueError("at least one rail is needed")
    if rails == 1:
        return text
    fence = [[] for _ in range(rails)]
    rail, step = 0, 1
    for character in text:
        fence[rail].append(character)
        if rail + step not in range(rails):
            step = -step
        rail += step
    return "".join("".join(row) for row in fence)


def columnar_transposition(text, key):
    """Write a text in rows and read off its columns in the order given by the key.

    >>> columnar_transposition("WEAREDISCOVERED", [2, 0, 1])
    'ADCEDWRIOREESVE'
    >>> columnar_transposition("", [0])
    ''
    >>> columnar_transposition("ABCD", [1, 3])
    Traceback (most recent call last):
        ...
    ValueError: the key is not a permutation
    """
    width = len(key)
    if sorted(key) != list(range(width)):
        raise ValueError("the key is not a permutation")
    return "".join(text[column::width] for column in key)


def run_length_encode(text):
    """Encode a text as a list of characters with the lengths of their runs.

    >>> run_length_encode("aaabccd")
    [('a', 3), ('b', 1), ('c', 2), ('d', 1)]
    >>> run_length_encode("z")
    [('z', 1)]
    >>> run_length_encode("")
    []
    """
    runs = []
    for character, run in groupby(text):
        length = sum(1 for _ in run)
        runs.append((character, length))
    return runs


def run_length_decode(code):
    """Decode a text such as '3ab2c' in which counts stand before repeated characters.

    >>> run_length_decode("3ab2c")
    'aaabcc'
    >>> run_length_decode("12x")
    'xxxxxxxxxxxx'
    >>> run_length_decode("")
    ''
    >>> run_length_decode("a4")
    Traceback (most recent call last):
        ...
    ValueError: count without a character: 4
    """
    pieces = []
    count = ""
    for character in code:
        if character.isdigit():
            count += character
        else:
            pieces.append(character * int(count or 1))
            count = ""
    if count:
        raise ValueError(f"count without a character: {count}")
    return "".join(pieces)


def find_all_occurrences(text, pattern, start=0):
    """List the positions of a pattern from a start on, comparing at every position.

    >>> find_all_occurrences("AABAACAADAABAABA", "AABA")
    [0, 9, 12]
    >>> find_all_occurrences("AABAACAADAABAABA", "AABA", 1)
    [9, 12]
    >>> find_all_occurrences("abc", "abcd")
    []
    """
    positions = []
    for i in range(start, len(text) - len(pattern) + 1):
        for j in range(len(pattern)):
            if text[i + j] != pattern[j]:
                break
        else:
            positions.append(i)
    return positions


def _failure_table(pattern):
    table = [0] * len(pattern)
    length = 0
    for i in range(1, len(pattern)):
        while length and pattern[i] != pattern[length]:
            length = table[length - 1]
        if pattern[i] == pattern[length]:
            length += 1
        table[i] = length
    return table


def knuth_morris_pratt(text, pattern):
    """Return the first position of a pattern in a text, or -1, never stepping back.

    >>> knuth_morris_pratt("abcxabcdabxabcdabcdabcy", "abcdabcy")
    15
    >>> knuth_morris_pratt("aaaa", "b")
    -1
    >>> knuth_morris_pratt("abc", "")
    0
    """
    if not pattern:
        return 0
    table = _failure_table(pattern)
    matched = 0
    for i, character in enumerate(text):
        while matched > 0 and character != pattern[matched]:
            matched = table[matched - 1]
        if character == pattern[matched]:
            matched += 1
        if matched == len(pattern):
            return i - matched + 1
    return -1


def rabin_karp(text, pattern, base=256, modulus=101):
    """List the positions of a pattern in a text, comparing rolling hashes first.

    >>> rabin_karp("abracadabra", "abra")
    [0, 7]
    >>> rabin_karp("aaa", "aa", 2, 3)
    [0, 1]
    >>> rabin_karp("a", "abc")
    []
    """
    m, n = len(pattern), len(text)
    if m > n:
        return []
    highest = pow(base, m - 1, modulus)
    wanted = current = 0
    for i in range(m):
        wanted = (wanted * base + ord(pattern[i])) % modulus
        current = (current * base + ord(text[i])) % modulus
    positions = []
    for i in range(n - m + 1):
        if current == wanted and text[i:i + m] == pattern:
            positions.append(i)
        if i + m < n:
            current -= ord(text[i]) * highest
            current = (current * base + ord(text[i + m])) % modulus
    return positions


def levenshtein_distance(source, target, substitution_cost=1):
    """Count the cheapest insertions, deletions and substitutions between two words.

    >>> levenshtein_distance("kitten", "sitting")
    3
    >>> levenshtein_distance("kitten", "sitting", 2)
    5
    >>> levenshtein_distance("", "abc")
    3
    """
    previous = list(range(len(target) + 1))
    for i, a in enumerate(source, start=1):
        current = [i]
        for j, b in enumerate(target, start=1):
            replaced = previous[j - 1] + (0 if a == b else substitution_cost)
            current.append(min(replaced, previous[j] + 1, current[j - 1] + 1))
        previous = current
    return previous[-1]


def longest_common_subsequence(first, second):
    """Return a longest subsequence that two words have in common.

    >>> longest_common_subsequence("AGGTAB", "GXTXAYB")
    'GTAB'
    >>> longest_common_subsequence("abc", "xyz")
    ''
    >>> longest_common_subsequence("", "a")
    ''
    """
    @lru_cache(maxsize=None)
    def common(i, j):
        if i == len(first) or j == len(second):
            return ""
        if first[i] == second[j]:
            return first[i] + common(i + 1, j + 1)
        return max(common(i + 1, j), common(i, j + 1), key=len)

    return common(0, 0)


def longest_substring_with_k_distinct(text, k):
    """Return the length of the longest substring with at most k different characters.

    >>> longest_substring_with_k_distinct("eceba", 2)
    3
    >>> longest_substring_with_k_distinct("aaaa", 1)
    4
    >>> longest_substring_with_k_distinct("abc", 0)
    0
    """
    window = Counter()
    left = best = 0
    for right, character in enumerate(text):
        window[character] += 1
        while len(window) > k:
            window[text[left]] -= 1
            if window[text[left]] == 0:
                del window[text[left]]
            left += 1
        best = max(best, right - left + 1)
    return best


def is_balanced(text):
    """Decide whether the brackets of a text are correctly nested.

    >>> is_balanced("{[a + b] * (c - d)}")
    True
    >>> is_balanced("([)]")
    False
    >>> is_balanced("((")
    False
    >>> is_balanced("")
    True
    """
    stack = []
    for character in text:
        match character:
            case "(":
                stack.append(")")
            case "[":
                stack.append("]")
            case "{":
                stack.append("}")
            case ")" | "]" | "}":
                if not stack or stack.pop() != character:
                    return False
    return not stack


def int_to_roman(number):
    """Write a number between 1 and 3999 in Roman numerals.

    >>> int_to_roman(1994)
    'MCMXCIV'
    >>> int_to_roman(3)
    'III'
    >>> int_to_roman(0)
    Traceback (most recent call last):
        ...
    ValueError: 0 has no Roman numeral
    """
    if not 0 < number < 4000:
        raise ValueError(f"{number} has no Roman numeral")
    symbols = [
        (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
        (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    ]
    numeral = ""
    for value, symbol in symbols:
        count, number = divmod(number, value)
        numeral += symbol * count
    return numeral


def spell_number(number):
    """Spell an integer with less than seven digits in English words.

    >>> spell_number(342)
    'three hundred forty-two'
    >>> spell_number(-15007)
    'minus fifteen thousand seven'
    >>> spell_number(0)
    'zero'
    """
    small = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen "
        "fourteen fifteen sixteen seventeen eighteen nineteen"
    ).split()
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    if number < 0:
        return "minus " + spell_number(-number)
    if number < 20:
        return small[number]
    if number < 100:
        ten, one = divmod(number, 10)
        return tens[ten - 2] + (f"-{small[one]}" if one else "")
    unit, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    count, rest = divmod(number, unit)
    words = f"{spell_number(count)} {name}"
    return f"{words} {spell_number(rest)}" if rest else words


def generate_parentheses(pairs):
    """List all correctly nested strings with a given number of pairs of parentheses.

    >>> generate_parentheses(3)
    ['((()))', '(()())', '(())()', '()(())', '()()()']
    >>> generate_parentheses(1)
    ['()']
    >>> generate_parentheses(0)
    ['']
    """
    results = []

    def build(prefix, opened, closed):
        if closed == pairs:
            results.append(prefix)
            return
        if opened < pairs:
            build(prefix + "(", opened + 1, closed)
        if closed < opened:
            build(prefix + ")", opened, closed + 1)

    build("", 0, 0)
    return results


def wrap_text(text, width):
    """Break a text into lines of at most the given width, putting words greedily.

    >>> wrap_text("the quick brown fox jumps", 10)
    ['the quick', 'brown fox', 'jumps']
    >>> wrap_text("", 5)
    []
    >>> wrap_text("a banana", 5)
    Traceback (most recent call last):
        ...
    ValueError: 'banana' is longer than 5 characters
    """
    lines = []
    line = ""
    for word in text.split():
        if len(word) > width:
            raise ValueError(f"{word!r} is longer than {width} characters")
        if not line:
            line = word
        elif len(line) + 1 + len(word) <= width:
            line += " " + word
        else:
            lines.append(line)
            line = word
    if line:
        lines.append(line)
    return lines
