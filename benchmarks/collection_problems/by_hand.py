"""The best settings by hand, by the name of the problem; `collection.py --hand-scan NAME` prints a line."""

from __future__ import annotations

from collection_problems.hand import Hand

BY_HAND: dict[str, Hand] = {
    "Poisson, sin πx sin πy": Hand(700, 2, 0.3, 3, error=1.2e-11, seconds=0.087),
    "Rice 10, cosh 10x and cosh 20y": Hand(700, 3, 0.15, 3, resolution=(1.0, 2.0), error=2.4e-09, seconds=0.35),
    "Darcy with a reaction, fluxes on two sides": Hand(700, 2, 0.3, 3, error=4.3e-11, seconds=0.65),
    "cells ε = 0.1 on a line": Hand(640, 5, 0.3, 3, error=3.0e-11, seconds=0.87),
    "five scales, 1/5 to 1/65": Hand(700, 2, 0.3, 3, error=1.9e-12, seconds=2),
    "two scales, 1/3 and 1/5": Hand(700, 2, 0.3, 3, error=2.5e-12, seconds=0.7),
    "k = 1, sin πx sin 4πy": Hand(700, 3, 0.3, 3, resolution=(1.0, 2.0), error=5.6e-11, seconds=0.28),
    "DeepXDE, k = 4π": Hand(700, 2, 0.3, 3, error=5.7e-11, seconds=0.28),
    "Townsend–Olver, ω = 15": Hand(1500, 3, 0.15, 3, error=1.5e-09, seconds=2),
    "NIST oscillatory, α = 1/10π": Hand(1500, 3, 0.3, 3, resolution=(2.0, 1.0), error=2.8e-01, seconds=4.5),
    "DeepXDE diffusion with a source": Hand(700, 2, 0.3, 3, error=4.0e-11, seconds=0.2),
    "cooling disk": Hand(700, 3, 0.5, 4, error=9.0e-09, seconds=0.22),
    "Gaussian that spreads": Hand(1500, 3, 0.3, 3, resolution=(4.0, 1.0), error=8.0e-06, seconds=2.1),
    "PINNacle Wave1d-C": Hand(700, 3, 0.15, 3, error=2.5e-10, seconds=0.21),
    "membrane, sin πx sin πy": Hand(1500, 3, 0.5, 4, resolution=(1.0, 2.0, 2.0), error=8.2e-09, seconds=2.3),
    "telegraph equation": Hand(700, 2, 0.3, 3, error=4.0e-11, seconds=0.18),
    "free Schrödinger packet": Hand(1500, 3, 0.15, 3, resolution=(2.0, 1.0), error=6.9e-05, seconds=15),
    "convection, β = 30": Hand(700, 3, 0.15, 4, resolution=(1.0, 2.0), error=5.1e-10, seconds=0.28),
    "Noye–Tan, a pulse that drifts": Hand(3000, 2, 0.15, 3, resolution=(4.0, 1.0), error=9.9e-06, seconds=9.1),
    "rotating hill": Hand(3000, 2, 0.3, 3, resolution=(2.0, 2.0, 1.0), error=6.8e-04, seconds=8.8),
    "supported square plate, sinusoidal load": Hand(700, 3, 0.15, 4, error=2.8e-11, seconds=0.21),
    "clamped square plate, sin² sin²": Hand(700, 2, 0.3, 3, error=5.3e-11, seconds=0.11),
    "clamped square plate, uniform load": Hand(3000, 2, 0.3, 3, error=2.3e-08, seconds=5.4),
    "Trefethen p38, u″″ = eˣ": Hand(160, 5, 0.3, 4, error=3.7e-09, seconds=0.14),
    "heat, sin 50πx": Hand(3000, 2, 0.15, 4, resolution=(40.0, 1.0), error=1.5e-09, seconds=9.4),
    "Laplace on a fin 20 : 1": Hand(700, 2, 0.3, 3, resolution=(1.0, 1.0), error=8.9e-11, seconds=0.22),
    "NIST wave front, mild, α = 20": Hand(1500, 3, 0.15, 3, resolution=(4.0, 1.0), error=4.8e-03, seconds=3),
    "NIST wave front, α = 50, from outside": Hand(1500, 3, 0.3, 3, resolution=(2.0, 1.0), error=1.8e-01, seconds=1.7),
    "4-D Poisson, a product of sines": Hand(3000, 2, 0.85, 3, error=4.8e-07, seconds=4),
    "5-D Poisson, Σ cos πx": Hand(3000, 2, 0.85, 3.9, error=3.9e-07, seconds=5.6),
    "PINNacle PNd, d = 8": Hand(3000, 2, 0.85, 4, error=2.2e-05, seconds=4.7),
    "Chebfun, Airy on [−30, 30]": Hand(640, 2, 0.3, 4, error=2.1e-11, seconds=0.16),
    "Chebfun, layer ε = 0.01": Hand(320, 5, 0.3, 3, error=8.4e-11, seconds=0.022),
}
