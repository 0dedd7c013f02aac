"""What strangers write is read as it stands: no model takes a flag or a text for a number."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args

import assay
import pytest
from assay.spec.datum import Strict
from pydantic import ValidationError

WRONG: dict[type, list[object]] = {
    int: [True, "1", 1.5],
    float: [True, "1.5"],
    bool: [1, 0.0, "true"],
    str: [1, True, 0.5],
}
NO_PLACE = {"missing", "extra_forbidden"}


def models(base: type[Strict] = Strict) -> Iterator[type[Strict]]:
    """Every model of this package that reads what others wrote."""
    for model in base.__subclasses__():
        yield model
        yield from models(model)


@pytest.fixture(scope="module")
def known() -> list[type[Strict]]:
    for module in pkgutil.walk_packages(assay.__path__, "assay."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return list(dict.fromkeys(models()))


def scalars(annotation: Any) -> set[type]:
    """The scalar types that a key may hold, also in lists, but not in tables: those have keys of their own."""
    if annotation in WRONG:
        return {annotation}
    if Any in get_args(annotation):
        return set()
    return set().union(*map(scalars, get_args(annotation)))


def is_refused(model: type[Strict], key: str, value: object) -> bool:
    try:
        model.model_validate({key: value})
    except ValidationError as error:
        return any(fault["loc"][:1] == (key,) and fault["type"] not in NO_PLACE for fault in error.errors())
    return False


def test_a_value_of_another_kind_is_refused(known: list[type[Strict]]) -> None:
    tried, taken = 0, []
    for model in known:
        for name, field in model.model_fields.items():
            key, kinds = field.alias or name, scalars(field.annotation)
            for value in (value for kind in kinds for value in WRONG[kind] if type(value) not in kinds):
                for form in (value, [value], [value, value], [[value, value]], {"x": value}):
                    tried += 1
                    taken += [] if is_refused(model, key, form) else [f"{model.__name__}.{key} = {form}"]
    assert tried > 1000
    assert taken == []


def test_true_is_no_version(known: list[type[Strict]]) -> None:
    keys = {
        model: model.model_fields["schema_version"].alias for model in known if "schema_version" in model.model_fields
    }
    assert len(keys) > 3
    assert [model for model, key in keys.items() if not is_refused(model, key or "schema_version", True)] == []
