"""Programs on money, interest and bookkeeping."""

from collections import defaultdict, deque
from dataclasses import dataclass
from itertools import accumulate
import heapq
import math


def compound_interest(principal, rate, years, periods=1):
    """Return the value of a deposit with interest compounded several times a year.

    >>> compound_interest(1000, 0.05, 2)
    1102.5
    >>> compound_interest(1000, 0.12, 1, 12)
    1126.83
    >>> compound_interest(500, 0.1, 0)
    500.0
    >>> compound_interest(-1, 0.1, 1)
    Traceback (most recent call last):
        ...
    ValueError: principal must not be negative
    """
    if principal < 0:
        raise ValueError("principal must not be negative")
    balance = float(principal)
    for _ in range(years * periods):
        balance *= 1 + rate / periods
    return round(balance, 2)


def years_to_reach(balance, goal, rate):
    """Return how many full years a balance needs to grow to a goal, or None if never.

    >>> years_to_reach(1000, 2000, 0.07)
    11
    >>> years_to_reach(500, 400, 0.01)
    0
    >>> years_to_reach(100, 200, 0) is None
    True
    """
    if balance >= goal:
        return 0
    if rate <= 0 or balance <= 0:
        return None
    years = 0
    while balance < goal:
        balance += balance * rate
        years += 1
    return years


def loan_payment(principal, annual_rate, months):
    """Return the equal monthly payment that pays off a loan.

    >>> loan_payment(10000, 0.06, 12)
    860.66
    >>> loan_payment(1200, 0, 12)
    100.0
    >>> loan_payment(5000, 0.05, 0)
    Traceback (most recent call last):
        ...
    ValueError: months must be positive
    """
    if months <= 0:
        raise ValueError("months must be positive")
    r = annual_rate / 12
    if r == 0:
        return round(principal / months, 2)
    growth = (1 + r) ** months
    return round(principal * r * growth / (growth - 1), 2)


def amortization_schedule(principal, annual_rate, payment):
    """Return (interest, repayment, remaining debt) for every month of a loan.

    >>> amortization_schedule(1000, 0.12, 400)
    [(10.0, 390.0, 610.0), (6.1, 393.9, 216.1), (2.16, 216.1, 0.0)]
    >>> amortization_schedule(0, 0.05, 100)
    []
    >>> amortization_schedule(1000, 0.12, 10)
    Traceback (most recent call last):
        ...
    ValueError: payment does not cover the interest
    """
    rows = []
    debt = principal
    while debt > 0:
        interest = round(debt * annual_rate / 12, 2)
        if payment <= interest:
            raise ValueError("payment does not cover the interest")
        repaid = min(debt, payment - interest)
        debt = round(debt - repaid, 2)
        rows.append((interest, round(repaid, 2), debt))
    return rows


def net_present_value(rate, cash_flows):
    """Return the value today of yearly cash flows, the first of which happens now.

    >>> net_present_value(0.1, [-1000, 550, 605])
    0.0
    >>> net_present_value(0, [-100, 60, 60])
    20.0
    >>> net_present_value(0.05, [])
    0.0
    """
    value = 0.0
    for flow in reversed(cash_flows):
        value = value / (1 + rate) + flow
    return round(value, 2) + 0.0


def internal_rate_of_return(cash_flows, low=-0.9, high=1.0):
    """Find by bisection the rate at which the present value of cash flows is zero, or None.

    >>> internal_rate_of_return([-100, 110])
    0.1
    >>> internal_rate_of_return([-1000, 500, 500, 500])
    0.2338
    >>> internal_rate_of_return([-100, 50])
    -0.5
    >>> internal_rate_of_return([100, 100]) is None
    True
    """
    def value(rate):
        return sum(flow / (1 + rate) ** t for t, flow in enumerate(cash_flows))

    if value(low) * value(high) > 0:
        return None
    while high - low > 1e-7:
        middle = (low + high) / 2
        if value(low) * value(middle) <= 0:
            high = middle
        else:
            low = middle
    return round((low + high) / 2, 4)


def moving_average(prices, window):
    """Return the averages over all full windows of a price series.

    >>> moving_average([1, 2, 3, 4, 5], 3)
    [2.0, 3.0, 4.0]
    >>> moving_average([4, 8], 5)
    []
    >>> moving_average([7, 7], 1)
    [7.0, 7.0]
    >>> moving_average([1, 2], 0)
    Traceback (most recent call last):
        ...
    ValueError: window must be positive
    """
    if window < 1:
        raise ValueError("window must be positive")
    averages = []
    recent = deque()
    total = 0
    for price in prices:
        recent.append(price)
        total += price
        if len(recent) > window:
            total -= recent.popleft()
        if len(recent) == window:
            averages.append(total / window)
    return averages


def exponential_average(prices, alpha):
    """Return the exponentially smoothed series of prices.

    >>> exponential_average([10, 20, 20], 0.5)
    [10, 15.0, 17.5]
    >>> exponential_average([3, 9], 1)
    [3, 9]
    >>> exponential_average([], 0.3)
    []
    """
    if not 0 < alpha <= 1:
        raise ValueError("alpha must lie between 0 and 1")
    return list(accumulate(prices, lambda old, new: alpha * new + (1 - alpha) * old))


def income_tax(income, brackets):
    """Return the progressive tax for an income with brackets of (upper limit or None, rate).

    >>> income_tax(30000, [(10000, 0.1), (40000, 0.2), (None, 0.4)])
    5000.0
    >>> income_tax(50000, [(10000, 0.1), (40000, 0.2), (None, 0.4)])
    11000.0
    >>> income_tax(0, [(10000, 0.1), (None, 0.2)])
    0.0
    """
    tax = 0.0
    lower = 0
    for limit, rate in brackets:
        if limit is None or income <= limit:
            tax += (income - lower) * rate
            break
        tax += (limit - lower) * rate
        lower = limit
    return round(tax, 2)


def depreciation_schedule(cost, salvage, years, method="linear"):
    """Return the yearly depreciation of an asset by a named method.

    >>> depreciation_schedule(1000, 100, 3)
    [300.0, 300.0, 300.0]
    >>> depreciation_schedule(1000, 100, 3, "digits")
    [450.0, 300.0, 150.0]
    >>> depreciation_schedule(1000, 100, 4, "double")
    [500.0, 250.0, 125.0, 25.0]
    >>> depreciation_schedule(1000, 100, 3, "magic")
    Traceback (most recent call last):
        ...
    ValueError: unknown method: magic
    """
    match method:
        case "linear":
            return [round((cost - salvage) / years, 2)] * years
        case "digits":
            digits = years * (years + 1) // 2
            return [round((cost - salvage) * k / digits, 2) for k in range(years, 0, -1)]
        case "double":
            amounts, book = [], cost
            for _ in range(years):
                amount = min(book * 2 / years, book - salvage)
                book -= amount
                amounts.append(round(amount, 2))
            return amounts
        case _:
            raise ValueError(f"unknown method: {method}")


@dataclass
class _Line:
    quantity: int
    price: float
    discount: float = 0

    def amount(self):
        return self.quantity * self.price * (1 - self.discount)


def invoice_total(lines, tax_rate):
    """Return net, tax and gross of an invoice with lines (quantity, price[, discount]).

    >>> invoice_total([(2, 10.0), (1, 30.0, 0.5)], 0.2)
    {'net': 35.0, 'tax': 7.0, 'gross': 42.0}
    >>> invoice_total([], 0.2)
    {'net': 0, 'tax': 0.0, 'gross': 0.0}
    >>> invoice_total([(-1, 5.0)], 0.1)
    Traceback (most recent call last):
        ...
    ValueError: negative quantity in line 1
    """
    net = 0
    for number, entry in enumerate(lines, 1):
        line = _Line(*entry)
        if line.quantity < 0:
            raise ValueError(f"negative quantity in line {number}")
        net += round(line.amount(), 2)
    tax = round(net * tax_rate, 2)
    return {"net": net, "tax": tax, "gross": round(net + tax, 2)}


def portfolio_weights(shares, prices):
    """Return the share of every position in the total value of a portfolio.

    >>> portfolio_weights({"AAA": 10, "BBB": 5}, {"AAA": 20, "BBB": 40})
    {'AAA': 0.5, 'BBB': 0.5}
    >>> portfolio_weights({"AAA": 3, "CCC": 1}, {"AAA": 1, "BBB": 7, "CCC": 1})
    {'AAA': 0.75, 'CCC': 0.25}
    >>> portfolio_weights({}, {"AAA": 1})
    {}
    """
    values = {name: count * prices[name] for name, count in shares.items()}
    total = sum(values.values())
    if total == 0:
        return {}
    return {name: round(value / total, 4) for name, value in values.items()}


def rebalancing_orders(values, targets):
    """Return how much money to move into each position to reach target weights.

    >>> rebalancing_orders([600, 400], [0.5, 0.5])
    [-100.0, 100.0]
    >>> rebalancing_orders([0, 0, 90], [0.25, 0.25, 0.5])
    [22.5, 22.5, -45.0]
    >>> rebalancing_orders([100, 100], [0.7, 0.7])
    Traceback (most recent call last):
        ...
    ValueError: target weights must add up to 1
    """
    if not math.isclose(sum(targets), 1):
        raise ValueError("target weights must add up to 1")
    total = sum(values)
    orders = []
    for value, weight in zip(values, targets):
        orders.append(round(total * weight - value, 2))
    return orders


def maximum_drawdown(prices):
    """Return the largest loss from a peak to a later low as a fraction of the peak, for positive prices.

    >>> maximum_drawdown([100, 120, 90, 110, 60, 130])
    0.5
    >>> maximum_drawdown([1, 2, 3])
    0.0
    >>> maximum_drawdown([])
    0.0
    """
    peak = -math.inf
    worst = 0.0
    for price in prices:
        peak = max(peak, price)
        worst = max(worst, (peak - price) / peak)
    return worst


def best_trade(prices):
    """Return the profit of the best single purchase and later sale with its two days, or None.

    >>> best_trade([7, 1, 5, 3, 6, 4])
    (5, 1, 4)
    >>> best_trade([7, 6, 4]) is None
    True
    >>> best_trade([3, 3, 8, 8])
    (5, 0, 2)
    >>> best_trade([]) is None
    True
    """
    best = None
    cheapest = 0
    for day, price in enumerate(prices):
        if price < prices[cheapest]:
            cheapest = day
        gain = price - prices[cheapest]
        if gain > 0 and (best is None or gain > best[0]):
            best = (gain, cheapest, day)
    return best


def sharpe_ratio(returns, risk_free=0.0):
    """Return the mean excess return divided by the sample standard deviation.

    >>> sharpe_ratio([0.1, 0.2, 0.3])
    2.0
    >>> sharpe_ratio([0.05, 0.01, -0.03], 0.01)
    0.0
    >>> sharpe_ratio([0.1])
    Traceback (most recent call last):
        ...
    ValueError: at least two returns are needed
    """
    n = len(returns)
    if n < 2:
        raise ValueError("at least two returns are needed")
    mean = sum(returns) / n
    variance = sum((r - mean) ** 2 for r in returns) / (n - 1)
    if variance == 0:
        return math.inf
    return round((mean - risk_free) / math.sqrt(variance), 4) + 0.0


def bond_price(face, coupon_rate, market_rate, years):
    """Return the fair price of a bond with yearly coupons.

    >>> bond_price(1000, 0.05, 0.05, 10)
    1000.0
    >>> bond_price(1000, 0.06, 0.05, 2)
    1018.59
    >>> bond_price(1000, 0, 0.25, 2)
    640.0
    """
    coupon = face * coupon_rate
    price = 0
    discount = 1
    for _ in range(years):
        discount /= 1 + market_rate
        price += coupon * discount
    return round(price + face * discount, 2)


def payback_period(investment, inflows):
    """Return the number of years after which inflows repay an investment, or None.

    >>> payback_period(1000, [400, 400, 400])
    2.5
    >>> payback_period(300, [100, 100]) is None
    True
    >>> payback_period(0, [5])
    0.0
    """
    if investment <= 0:
        return 0.0
    missing = investment
    for year, inflow in enumerate(inflows):
        if inflow >= missing:
            return round(year + missing / inflow, 2)
        missing -= inflow
    else:
        return None


def fifo_profit(trades):
    """Return the profit from sales when the shares bought first are sold first.

    >>> fifo_profit([("buy", 10, 5), ("buy", 10, 8), ("sell", 15, 10)])
    60
    >>> fifo_profit([("buy", 3, 7)])
    0
    >>> fifo_profit([("buy", 2, 4), ("sell", 3, 9)])
    Traceback (most recent call last):
        ...
    ValueError: sold more than was bought
    """
    lots = deque()
    profit = 0
    for kind, quantity, price in trades:
        if kind == "buy":
            lots.append([quantity, price])
            continue
        while quantity > 0:
            if not lots:
                raise ValueError("sold more than was bought")
            lot = lots[0]
            sold = min(quantity, lot[0])
            profit += sold * (price - lot[1])
            quantity -= sold
            lot[0] -= sold
            if lot[0] == 0:
                lots.popleft()
    return profit


class _Account:
    def __init__(self, limit):
        self.balance = 0
        self.limit = limit

    def post(self, amount):
        if self.balance + amount < -self.limit:
            return False
        self.balance += amount
        return True


def post_transactions(amounts, overdraft=0):
    """Book amounts on an account and return the final balance and the refused positions.

    >>> post_transactions([100, -30, -80, 20])
    (90, [2])
    >>> post_transactions([-40, -20, -1], 60)
    (-60, [2])
    >>> post_transactions([])
    (0, [])
    """
    account = _Account(overdraft)
    refused = []
    for position, amount in enumerate(amounts):
        if not account.post(amount):
            refused.append(position)
    return account.balance, refused


def settle_debts(balances):
    """Return payments (from, to, amount) that settle the balances of a group of friends.

    >>> settle_debts({"ann": 30, "bob": -10, "cid": -20})
    [('cid', 'ann', 20), ('bob', 'ann', 10)]
    >>> settle_debts({"ann": 0, "bob": 0})
    []
    >>> settle_debts({"ann": 5})
    Traceback (most recent call last):
        ...
    ValueError: balances must add up to zero
    """
    if sum(balances.values()) != 0:
        raise ValueError("balances must add up to zero")
    creditors = [(-amount, name) for name, amount in balances.items() if amount > 0]
    debtors = [(amount, name) for name, amount in balances.items() if amount < 0]
    heapq.heapify(creditors)
    heapq.heapify(debtors)
    payments = []
    while creditors and debtors:
        credit, creditor = heapq.heappop(creditors)
        debt, debtor = heapq.heappop(debtors)
        amount = min(-credit, -debt)
        payments.append((debtor, creditor, amount))
        if credit + amount:
            heapq.heappush(creditors, (credit + amount, creditor))
        if debt + amount:
            heapq.heappush(debtors, (debt + amount, debtor))
    return payments


def split_cents(total, weights):
    """Split an amount of cents in proportion to weights so that no cent is lost.

    >>> split_cents(100, [1, 1, 1])
    [34, 33, 33]
    >>> split_cents(5, [1, 3])
    [1, 4]
    >>> split_cents(0, [2, 2])
    [0, 0]
    """
    whole = sum(weights)
    parts = []
    remainders = []
    for i, weight in enumerate(weights):
        part, remainder = divmod(total * weight, whole)
        parts.append(part)
        remainders.append((-remainder, i))
    left = total - sum(parts)
    for _, i in sorted(remainders)[:left]:
        parts[i] += 1
    return parts


def is_valid_card_number(number):
    """Check the number of a credit card, given as a string, with Luhn's algorithm.

    >>> is_valid_card_number("4539 1488 0343 6467")
    True
    >>> is_valid_card_number("8273 1232 7352 0569")
    False
    >>> is_valid_card_number("")
    False
    >>> is_valid_card_number("12a4")
    False
    """
    digits = number.replace(" ", "")
    if not digits.isdigit():
        return False
    total = 0
    for i, ch in enumerate(reversed(digits)):
        value = int(ch)
        if i % 2 == 1:
            value *= 2
            if value > 9:
                value -= 9
        total += value
    return total % 10 == 0


def monthly_totals(entries):
    """Add up dated amounts ('YYYY-MM-DD', amount) by month and return them in order.

    >>> monthly_totals([("2023-02-03", 10), ("2023-01-31", 5), ("2023-02-28", -4)])
    [('2023-01', 5), ('2023-02', 6)]
    >>> monthly_totals([("1999-12-24", 7)])
    [('1999-12', 7)]
    >>> monthly_totals([])
    []
    """
    totals = defaultdict(int)
    for date, amount in entries:
        year, month, _ = date.split("-")
        totals[f"{year}-{month}"] += amount
    return sorted(totals.items())
