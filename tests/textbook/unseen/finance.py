"""Finance: taxes, returns, inventories, debts and accounts."""

import heapq
from collections import deque


def progressive_tax(income, brackets):
    """Tax an income by brackets (upper limit or None, percent), each rate on its own slice.

    >>> progressive_tax(50000, [(10000, 0), (40000, 20), (None, 40)])
    10000.0
    >>> progressive_tax(10000, [(10000, 0), (40000, 20), (None, 40)])
    0.0
    >>> progressive_tax(300, [(None, 7.5)])
    22.5
    >>> progressive_tax(-1, [(None, 10)])
    Traceback (most recent call last):
        ...
    ValueError: income is negative: -1
    """
    if income < 0:
        raise ValueError(f"income is negative: {income}")
    tax = 0.0
    lower = 0
    for upper, percent in brackets:
        top = income if upper is None else min(income, upper)
        tax += (top - lower) * percent / 100
        if top == income:
            break
        lower = upper
    return round(tax, 2)


def internal_rate_of_return(cash_flows, low=-0.9, high=1.0):
    """Find by bisection the rate at which the present value of yearly cash flows vanishes.

    >>> internal_rate_of_return([-100, 110])
    0.1
    >>> internal_rate_of_return([-1000, 500, 400, 300])
    0.1065
    >>> internal_rate_of_return([-100, 50])
    -0.5
    >>> internal_rate_of_return([100, 50])
    Traceback (most recent call last):
        ...
    ValueError: no change of sign between the bounds
    """
    def present_value(rate):
        value = 0.0
        for flow in reversed(cash_flows):
            value = value / (1 + rate) + flow
        return value

    if present_value(low) * present_value(high) > 0:
        raise ValueError("no change of sign between the bounds")
    while high - low > 1e-7:
        middle = (low + high) / 2
        if present_value(low) * present_value(middle) <= 0:
            high = middle
        else:
            low = middle
    return round((low + high) / 2, 4)


def maximum_drawdown(prices):
    """Return the deepest relative fall from a peak with the days of peak and trough.

    >>> maximum_drawdown([100, 120, 90, 110, 60, 130])
    (0.5, 1, 4)
    >>> maximum_drawdown([1, 2, 3])
    (0.0, 0, 0)
    >>> maximum_drawdown([80, 60, 80, 60])
    (0.25, 0, 1)
    >>> maximum_drawdown([])
    (0.0, 0, 0)
    """
    worst = (0.0, 0, 0)
    peak_day = 0
    for day, price in enumerate(prices):
        if price > prices[peak_day]:
            peak_day = day
        elif (fall := 1 - price / prices[peak_day]) > worst[0]:
            worst = (fall, peak_day, day)
    return worst


def fifo_gain(trades):
    """Return the realized gain and the units left when trades (quantity, price) sell the oldest first.

    >>> fifo_gain([(10, 5), (10, 7), (-15, 8)])
    (35, 5)
    >>> fifo_gain([(4, 100), (-1, 90), (-3, 110)])
    (20, 0)
    >>> fifo_gain([])
    (0, 0)
    >>> fifo_gain([(2, 5), (-3, 6)])
    Traceback (most recent call last):
        ...
    ValueError: sold more than was held
    """
    lots = deque()
    gain = 0
    for quantity, price in trades:
        if quantity > 0:
            lots.append((quantity, price))
            continue
        to_sell = -quantity
        while to_sell > 0:
            if not lots:
                raise ValueError("sold more than was held")
            held, cost = lots.popleft()
            sold = min(held, to_sell)
            gain += sold * (price - cost)
            to_sell -= sold
            if held > sold:
                lots.appendleft((held - sold, cost))
    return gain, sum(quantity for quantity, _ in lots)


def settle_debts(balances):
    """Propose payments (debtor, creditor, amount) that bring all balances to zero, largest first.

    >>> settle_debts({"ann": 40, "bob": -30, "cid": -10})
    [('bob', 'ann', 30), ('cid', 'ann', 10)]
    >>> settle_debts({"ann": 5, "bob": 5, "cid": -10})
    [('cid', 'ann', 5), ('cid', 'bob', 5)]
    >>> settle_debts({"ann": 0})
    []
    >>> settle_debts({"ann": 3})
    Traceback (most recent call last):
        ...
    ValueError: balances sum to 3, not to zero
    """
    if total := sum(balances.values()):
        raise ValueError(f"balances sum to {total}, not to zero")
    creditors = [(-amount, name) for name, amount in balances.items() if amount > 0]
    debtors = [(amount, name) for name, amount in balances.items() if amount < 0]
    heapq.heapify(creditors)
    heapq.heapify(debtors)
    payments = []
    while creditors:
        credit, creditor = heapq.heappop(creditors)
        debt, debtor = heapq.heappop(debtors)
        paid = min(-credit, -debt)
        payments.append((debtor, creditor, paid))
        if -credit > paid:
            heapq.heappush(creditors, (credit + paid, creditor))
        if -debt > paid:
            heapq.heappush(debtors, (debt + paid, debtor))
    return payments


class _Account:
    def __init__(self, balance, overdraft):
        self.balance = balance
        self.overdraft = overdraft
        self.refused = 0

    def deposit(self, amount):
        self.balance += amount

    def withdraw(self, amount):
        if self.balance - amount < -self.overdraft:
            self.refused += 1
        else:
            self.balance -= amount


def replay_account(opening, entries, overdraft=0):
    """Replay the entries of an account book; return the balance and the number of refused withdrawals.

    >>> replay_account(100, [("deposit", 50), ("withdraw", 120), ("withdraw", 40)])
    (30, 1)
    >>> replay_account(100, [("withdraw", 120), ("interest", 10)], 50)
    (-20, 0)
    >>> replay_account(200, [("interest", 5), ("close",), ("deposit", 1)])
    (210, 0)
    >>> replay_account(0, [("steal", 9)])
    Traceback (most recent call last):
        ...
    ValueError: unknown entry: ('steal', 9)
    """
    account = _Account(opening, overdraft)
    for entry in entries:
        match entry:
            case ("deposit", amount):
                account.deposit(amount)
            case ("withdraw", amount):
                account.withdraw(amount)
            case ("interest", percent) if account.balance > 0:
                account.deposit(account.balance * percent // 100)
            case ("interest", _):
                pass
            case ("close",):
                break
            case _:
                raise ValueError(f"unknown entry: {entry!r}")
    return account.balance, account.refused
