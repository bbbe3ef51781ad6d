"""Reads, checks and writes policies as YAML; an extra of the package brings the libraries."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from kanon_pg.errors import InputError, as_given
from kanon_pg.policy.document import Document, schema


def read_document(path: Path) -> Document:
    """Read a policy.

    Raises
    ------
    InputError
        If it cannot be read, is no YAML, repeats a key, or does not have the form of a policy. Says where,
        and quotes nothing but keys.
    """
    try:
        found = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"The policy cannot be read: {error.strerror}.", hint="Name a file.") from error
    except (YAMLError, ValueError) as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        where = "" if mark is None else f", at line {mark.line + 1}"
        raise InputError(
            f"The policy is no YAML, or names something twice{where}.",
            hint="`kanon policy export` writes one that is.",
        ) from None
    return checked(found)


def checked(document: Any) -> Document:
    """Return what is read, if it has the form of a policy; see `read_document`."""
    error = best_match(Draft202012Validator(schema()).iter_errors(document))
    if error is None:
        return dict(document)
    needed = error.validator_value if error.validator == "required" else ()
    place = ": ".join(as_given(str(part)) for part in error.absolute_path) or "the file"
    known = ", ".join(error.schema.get("properties", ())) if isinstance(error.schema, Mapping) else ""
    said = {
        "type": f"has to be of type {error.validator_value}",
        "additionalProperties": f"has a key that is none of: {known}",
        "required": f"lacks {', '.join(key for key in needed if key not in error.instance)}",
        "enum": f"has to be one of {error.validator_value}",
        "const": f"has to be {error.validator_value}",
        "anyOf": "has to have table, column and spec, or rows, or kind",
    }.get(str(error.validator), "has another form than the schema says")
    raise InputError(f"In the policy, {place} {said}.", hint="`kanon policy schema` says what it may be.")


def written(document: Document) -> str:
    """Return a policy as YAML."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.representer.sort_base_mapping_type_on_output = False
    yaml.width = 110
    text = StringIO()
    yaml.dump(document, text)
    return text.getvalue()
