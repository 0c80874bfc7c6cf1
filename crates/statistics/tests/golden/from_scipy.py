#!/usr/bin/env python3
"""Writes scipy.txt: vectors for the tests of this crate, from SciPy, NumPy and itertools.

    python3 -m pip install numpy scipy && python3 from_scipy.py > scipy.txt

The tests do not run this script. It shares nothing with the crate: labellings come from itertools.combinations, and
every mean over labellings is taken over all of them, where the crate has a formula.
"""

import itertools
import math

import numpy as np
from scipy import stats

random = np.random.default_rng(20261127)


def line(kind, **fields):
    def text(value):
        if isinstance(value, str):
            return value
        return " ".join(repr(float(item)) for item in np.atleast_1d(value).ravel())

    print(kind, *(f"{name} {text(value)}" for name, value in fields.items()), sep=" | ")


def labellings(sides, groups):
    """All sets of indexes that could have been B, the observed one first."""
    observed = frozenset(i for i, side in enumerate(sides) if side == "B")
    choices = []
    for group in sorted(set(groups)):
        members = [i for i, g in enumerate(groups) if g == group]
        choices.append(list(itertools.combinations(members, sum(i in observed for i in members))))
    every = [frozenset(itertools.chain(*choice)) for choice in itertools.product(*choices)]
    assert observed in every
    return [observed] + [labelling for labelling in every if labelling != observed]


def align(z, strata):
    z = z.copy()
    for stratum in set(strata):
        members = [i for i, s in enumerate(strata) if s == stratum]
        z[members] -= np.median(z[members])
    return z


def statistics(z, every):
    """t and u of each labelling, centred."""
    ranks = stats.rankdata(np.round(z, 12))
    t, u, means = [], [], []
    for b in every:
        is_b = np.zeros(len(z), bool)
        is_b[list(b)] = True
        n, m = (~is_b).sum(), is_b.sum()
        va, vb = (max(z[side].var(ddof=1), 1e-18) for side in (~is_b, is_b))
        means.append(z[is_b].mean() - z[~is_b].mean())
        t.append(math.sqrt(va / n + vb / m))
        u.append((n * (n + m + 1) / 2 - ranks[~is_b].sum()) / math.sqrt(n * m * (n + m + 1) / 12))
    t = (np.array(means) - np.mean(means)) / np.array(t)
    return t, np.array(u) - np.mean(u)


def share(t, u, tail):
    f, g = (math.sqrt(np.mean(x * x)) for x in (t, u))
    t, u = (x / scale if scale > 0 else x * 0 for x, scale in ((t, f), (u, g)))
    if tail == "both":
        s = np.maximum(abs(t), abs(u))
    else:
        s = np.maximum(t, u) if tail == "greater" else np.maximum(-t, -u)
    return np.mean(s >= s[0] - 1e-9)


def two_sets(n, m):
    kind = random.integers(5)
    a = 100 * np.exp(random.normal(0, 0.03, n))
    b = 100 * np.exp(random.normal(random.choice([0, 0.02, 0.05, -0.05]), random.choice([0.03, 0.1]), m))
    if kind == 0:
        a, b = np.round(a), np.round(b)
    if kind == 1:
        a[0] *= 1.5
    if kind == 2:
        b = np.round(b / 4) * 4
    return a, b


def permutation(kind, sides, values, blocks, strata):
    groups = list(zip(blocks, strata))
    every = labellings(sides, groups)
    z = align(np.log(values), strata)
    t, u = statistics(z, every)
    fields = dict(sides=sides, values=values, blocks=blocks, strata=strata)
    fields |= {f"p_{tail}": share(t, u, tail) for tail in ("both", "greater", "less")}
    fields |= dict(t=t[0], u=u[0], t_scale=math.sqrt(np.mean(t * t)), u_scale=math.sqrt(np.mean(u * u)))
    line(kind, labellings=len(every), **fields)
    return t[0], u[0]


def permutations():
    worked = [100, 102, 99, 101, 103, 104, 107, 103.5, 106, 109]
    for index in range(150):
        n, m = random.choice([(4, 4), (4, 5), (5, 5), (3, 6), (5, 4), (6, 3), (2, 9), (6, 6), (7, 5)])
        a, b = two_sets(n, m)
        if index == 0:
            n, m, a, b = 5, 5, np.array(worked[:5]), np.array(worked[5:])
        mixed = random.permutation(n + m)
        sides = "".join(np.array(list("A" * n + "B" * m))[mixed])
        values = np.concatenate([a, b])[mixed]
        t, u = permutation("permutation", sides, values, [0] * (n + m), [0] * (n + m))
        # The observed statistics a second time, from SciPy.
        welch = stats.ttest_ind(np.log(b), np.log(a), equal_var=False).statistic
        assert math.isclose(t, welch, rel_tol=1e-9), (t, welch)
        rank = stats.mannwhitneyu(b, a).statistic
        assert math.isclose(u, (rank - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12), abs_tol=1e-9)


def groups():
    for index in range(40):
        blocks, strata, sides, values = [], [], "", []
        for block in range(3):
            for stratum in range(1 if index % 2 else 2):
                n, m = random.integers(1, 4, 2) if index % 2 else random.integers(1, 3, 2)
                a, b = two_sets(n, m)
                sides += "A" * n + "B" * m
                values += list(np.concatenate([a, b]) * (1 + stratum))
                # Blocks without strata, strata without blocks, and both.
                blocks += [block if index % 4 != 2 else 0] * (n + m)
                strata += [stratum] * (n + m)
        if len(sides) <= 18:
            permutation("groups", sides, np.array(values), blocks, strata)


class SplitMix64:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def below(self, limit):
        while True:
            product = self.next() * limit
            if product % (1 << 64) >= (1 << 64) % limit:
                return product >> 64


def random_labellings():
    for seed in (1, 2, 3):
        n, m = (10, 10) if seed < 3 else (9, 14)
        a, b = two_sets(n, m)
        mixed = random.permutation(n + m)
        sides = "".join(np.array(list("A" * n + "B" * m))[mixed])
        values = np.concatenate([a, b])[mixed]
        # Drawn is the set of the first run: a partial shuffle that goes on from draw to draw.
        pivots = sides.count(sides[0])
        stream, positions, every = SplitMix64(seed), list(range(n + m)), []
        every.append(frozenset(i for i, side in enumerate(sides) if side == "B"))
        for _ in range(19_999):
            for place in range(pivots):
                other = place + stream.below(n + m - place)
                positions[place], positions[other] = positions[other], positions[place]
            drawn = frozenset(positions[:pivots])
            every.append(drawn if sides[0] == "B" else frozenset(range(n + m)) - drawn)
        z = np.log(values) - np.median(np.log(values))
        ranks = stats.rankdata(np.round(z, 12))
        is_b = np.zeros((len(every), n + m))
        for row, b in zip(is_b, every):
            row[list(b)] = 1
        mean = lambda mark, values, count: mark @ values / count
        square = lambda mark, count: (mark @ z**2 - count * mean(mark, z, count) ** 2) / (count - 1) / count
        t = (mean(is_b, z, m) - mean(1 - is_b, z, n)) / np.sqrt(square(is_b, m) + square(1 - is_b, n))
        u = (n * (n + m + 1) / 2 - (1 - is_b) @ ranks) / math.sqrt(n * m * (n + m + 1) / 12)
        shares = {f"p_{tail}": share(t, u, tail) for tail in ("both", "greater", "less")}
        line("random", sides=sides, seed=seed, values=values, **shares)


def intervals():
    for _ in range(8):
        n, m = random.choice([(4, 4), (5, 5), (4, 6)])
        a, b = two_sets(n, m)
        sides = "A" * n + "B" * m
        every = labellings(sides, [0] * (n + m))

        def allowed(shift, tail, alpha=0.05):
            z = np.log(np.concatenate([a, b]))
            z[n:] -= shift
            return share(*statistics(z - np.median(z), every), tail) > alpha

        def end(tail, direction):
            inner = np.median(np.subtract.outer(np.log(b), np.log(a)))
            # The first shift of a fine grid that is rejected, and then halving: no bracket is guessed.
            step = 0.004 * direction
            while allowed(inner + step, tail):
                inner += step
            outer = inner + step
            for _ in range(30):
                middle = (inner + outer) / 2
                inner, outer = (middle, outer) if allowed(middle, tail) else (inner, middle)
            return inner

        ends = dict(low=end("both", -1), high=end("both", 1), lower=end("greater", -1), upper=end("less", 1))
        line("interval", a=a, b=b, **ends)


def families():
    for index in range(12):
        n, m = [(4, 4), (5, 5), (4, 5), (3, 3)][index % 4]
        keys = int(random.integers(1, 12))
        quanta = random.choice([1.0, 1e6, 0.25], keys)
        sizes = 10 ** random.uniform(0, 4, keys)
        values = random.poisson(sizes * np.exp(random.normal(0, 0.05, (n + m, keys)))).T * quanta[:, None]
        values[0, n:] *= random.choice([1, 1.3])
        counts = values / quanta[:, None]
        a, b = counts[:, :n], counts[:, n:]
        mean = counts.mean(axis=1)
        within = (a.var(axis=1) * n + b.var(axis=1) * m) / (n + m - 2)
        known = mean > 0
        c = max(1e-4, math.sqrt(np.median(np.maximum(0, (within - mean)[known] / mean[known] ** 2))))
        y = 2 / c * np.arcsinh(c * np.sqrt(counts + 3 / 8))
        freedom = n + m - 2

        def t_of(b):
            is_b = np.zeros(n + m, bool)
            is_b[list(b)] = True
            of_a, of_b = y[:, ~is_b], y[:, is_b]
            s = (of_a.var(axis=1) * n + of_b.var(axis=1) * m) / freedom
            moderated = (4 * np.median(s) + freedom * s) / (4 + freedom)
            return (of_b.mean(axis=1) - of_a.mean(axis=1)) / np.sqrt(moderated * (1 / n + 1 / m))

        every = labellings("A" * n + "B" * m, [0] * (n + m))
        observed = t_of(every[0])
        if n >= 4:
            all_t = np.array([abs(t_of(b)) for b in every])
            p = [np.mean(all_t.max(axis=1) >= t - 1e-9) for t in abs(observed)]
            alone = [np.mean(all_t[:, k] >= abs(observed[k]) - 1e-9) for k in range(keys)]
        else:
            alone = 2 * stats.t.sf(abs(observed), freedom + 4)
            order = np.argsort(alone)
            p = np.empty(keys)
            p[order] = np.minimum(1, np.maximum.accumulate(alone[order] * (keys - np.arange(keys))))
        line("family", runs=[n, m], quanta=quanta, values=values, spread=c, t=observed, p=p, alone=alone)


def student():
    for freedom in (1, 2, 2.5, 3.7, 5, 8, 18, 38, 98.3, 500):
        # SciPy 1.17 loses digits at small t: 1e-7 is a vector of R.
        for t in (0.01, 0.7, 1.3, 2.1, 4, 9, 40):
            line("tail", freedom=freedom, t=t, p=2 * stats.t.sf(t, freedom))
        for p in (1e-8, 0.001, 0.025, 0.2, 0.8, 0.95, 0.995):
            line("quantile", freedom=freedom, p=p, t=stats.t.ppf(p, freedom))


def ranks():
    for _ in range(20):
        values = np.round(random.normal(0, 3, int(random.integers(3, 30))))
        values[0] = 99
        ranked = stats.rankdata(values)
        r = ranked - ranked.mean()
        line("ranks", values=values, ranks=ranked, correlation=(r[:-1] @ r[1:]) / (r @ r))


permutations()
groups()
random_labellings()
intervals()
families()
student()
ranks()
