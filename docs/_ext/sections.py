"""Which example stands in which section of the gallery."""

#: Sections in order: title, what is said of it, and its examples in order. Every example stands in exactly one.
SECTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "First steps": (
        "One operator, many inputs.",
        ("darcy", "poisson_disk", "heat", "helmholtz", "own_kernel"),
    ),
    "Geometry": (
        "Holes, outlines from files, surfaces given by a function, corners.",
        ("annulus", "holes", "gear", "torus", "solid", "l_shape"),
    ),
    "Materials": (
        "Coefficients that jump, and coefficients from arrays.",
        ("layers", "wall", "inclusion", "groundwater"),
    ),
    "Waves and time": (
        "Space–time, absorbing boundaries, and long times slab by slab.",
        ("damped_wave", "march", "periodic_flow", "impedance"),
    ),
    "Systems": (
        "Several unknowns: flow, elasticity, electromagnetism, chemistry.",
        ("stokes", "cavity", "elasticity", "reaction_diffusion", "maxwell"),
    ),
    "Data and uncertainty": (
        "Sensors, noise, and sources found by their gradient.",
        ("noisy_sensors", "unknown_boundary", "find_the_source"),
    ),
}


def folder(title: str) -> str:
    """The folder of a section."""
    return title.lower().replace(" ", "_")
