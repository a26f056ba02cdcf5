"""What holds for all files of the source: how constructors are called."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import kernop

#: A constructor of more than MANY arguments takes at most LEADING of them by position.
MANY, LEADING = 5, 3


def classes() -> Iterator[type]:
    """Every class that kernop defines, once."""
    for found in pkgutil.walk_packages(kernop.__path__, "kernop."):
        if found.name == "kernop.__main__":  # importing it runs the command line
            continue
        module = importlib.import_module(found.name)
        yield from (own for own in vars(module).values() if inspect.isclass(own) and own.__module__ == found.name)


def positional(constructor: type) -> tuple[int, int]:
    """How many arguments a constructor takes by position, and how many in all."""
    _, *arguments = inspect.signature(constructor.__init__).parameters.values()
    kinds = [own.kind for own in arguments]
    by_position = kinds.count(inspect.Parameter.POSITIONAL_ONLY) + kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return by_position, by_position + kinds.count(inspect.Parameter.KEYWORD_ONLY)


class Long:
    def __init__(self, a: int, b: int, c: int, d: int, *, e: int, f: int) -> None: ...


class Led:
    def __init__(self, a: int, b: int, c: int, *, d: int, e: int, f: int) -> None: ...


def too_many(constructor: type) -> bool:
    by_position, all_of_them = positional(constructor)
    return all_of_them > MANY and by_position > LEADING


def test_the_rule_tells_long_constructors_from_others() -> None:
    assert too_many(Long)
    assert not too_many(Led)


def test_constructors_with_many_arguments_take_them_by_name() -> None:
    seen = [own for own in classes() if not issubclass(own, BaseException)]
    assert len(seen) > 200
    assert [f"{own.__module__}.{own.__qualname__}" for own in seen if too_many(own)] == []
