"""Print the JSON Schema of the API's replies; the frontend's types are generated from it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from tb_npu_plugin.backend.results import REPLIES


def schema() -> dict[str, Any]:
    """A JSON Schema document whose ``$defs`` are the structs of ``results.py``."""
    _, components = msgspec.json.schema_components(REPLIES, ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Api",
        "type": "object",
        "properties": {r.__name__: {"$ref": f"#/$defs/{r.__name__}"} for r in REPLIES},
        "$defs": components,
    }


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1, ensure_ascii=False))
