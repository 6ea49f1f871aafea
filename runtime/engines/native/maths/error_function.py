"""The error function, and what it lacks to 1."""

from __future__ import annotations

from runtime.engines.native.maths.exponentials import divided, exp
from runtime.engines.native.maths.expressions import Number, polynomial, select

#: ``erf(x) / x - 1`` in ``x * x``, for x of at most 1.
_NEAR = {
    True: (
        0.12837916612625122,
        -0.3761262595653534,
        0.1128358542919159,
        -0.026853810995817184,
        0.00518832728266716,
        -0.0008010191959328949,
        7.853857823647559e-05,
    ),
    False: (
        0.1283791670955126,
        -0.3761263890318375,
        0.11283791670954857,
        -0.026866170645072893,
        0.005223977624780837,
        -0.0008548326978740466,
        0.00012055331036837028,
        -1.4925593505419646e-05,
        1.6460972794144848e-06,
        -1.635002498892796e-07,
        1.4657878335345508e-08,
        -1.1365660402230406e-09,
        5.945252803013565e-11,
    ),
}
#: ``-log(erfc(x))``, for x from 1 to where erf(x) rounds to 1.
_FAR = {
    True: (
        0.00035374180879443884,
        1.127039909362793,
        0.6382258534431458,
        0.10303723812103271,
        -0.021805254742503166,
        0.0029395916499197483,
        -0.00018557239673100412,
    ),
    False: (
        1.8444223790613098e-07,
        1.1283772818329554,
        0.6366287063375436,
        0.10274663513134397,
        -0.01907694051021528,
        -0.0002822502394350269,
        0.0017709492692236466,
        -0.0006428541541139705,
        4.5969775364605894e-05,
        6.974300834505857e-05,
        -4.476672267023058e-05,
        1.6420383300222076e-05,
        -4.301479053755088e-06,
        8.45128104648609e-07,
        -1.2482013618378333e-07,
        1.3520916801878614e-08,
        -1.016935426532608e-09,
        4.751114948090568e-11,
        -1.0389032216971643e-12,
    ),
}


def erf(x: Number) -> Number:
    """The Gauss error function."""
    single = x.format.is_single
    near = x.fma(polynomial(x * x, _NEAR[single]), x)
    size = abs(x)
    exponent, power = divided(
        -polynomial(size.within(0, 4 if single else 6), _FAR[single])
    )
    scale = exponent.power_of_two
    far = -scale.fma(power, scale - 1)
    return select(size < 1, near, far.with_sign(x))


#: ``(1 + 2 * x) * exp(x * x) * erfc(x)`` in ``(x - k) / (x + k)``, for x from 0 to
#: where erfc(x) vanishes, and k: Shepherd and Laframboise, "Chebyshev approximation of
#: (1+2x)exp(x^2)erfc x", 1981.
_SCALED = {
    True: (
        1.2530080080032349,
        -0.13562114536762238,
        -0.047562409192323685,
        0.129646435379982,
        -0.11927079409360886,
        0.06829574704170227,
        -0.023798538371920586,
        0.002566559938713908,
        0.0020033519249409437,
        -0.0007751171942800283,
        -0.0002671789552550763,
    ),
    False: (
        1.2329951186255526,
        -0.13962111684056286,
        0.015379652102620035,
        0.06809705425473445,
        -0.10103906603631728,
        0.09373283499688774,
        -0.0663303658121867,
        0.03716751556104373,
        -0.016197734052936664,
        0.005031969768483162,
        -0.0007577733738187955,
        -0.0001992555737470915,
        0.00015062234228608928,
        -2.4402951951244145e-05,
        -1.1224955090218696e-05,
        5.7174427320248495e-06,
        3.014726691142263e-07,
        -8.346165399419538e-07,
        6.274091955067759e-08,
        1.1498714763153147e-07,
        -7.822238776642991e-09,
        -1.3572946194384477e-08,
        -1.7761774563252032e-09,
    ),
}


def _quotient(x: Number, k: float) -> Number:
    """``(x - k) / (x + k)``, rounded once where x is small: all depends on it there."""
    below, above = x + k, x - k
    inverse = 1 / below
    found = above * inverse
    rest = (-found).fma(below, above) + ((-k - above) + x)
    rest = (-found).fma((k - below) + x, rest)
    return rest.fma(inverse, found)


def erfc(x: Number) -> Number:
    """``1 - erf(x)``, also where that is small."""
    single = x.format.is_single
    size = abs(x).within(0, 10.2 if single else 27.5)
    center = 3.0 if single else 4.0
    scaled = polynomial(_quotient(size, center), _SCALED[single])
    square = size * size
    found = scaled / size.fma(2, 1) * exp(-square)
    # What the square lacks, as a factor: exp(-e) is 1 - e where e is small.
    found = (-size.fma(size, -square)).fma(found, found)
    return select(x < 0, 2 - found, found)
