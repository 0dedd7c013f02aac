"""The guide of the agent names every key, and its examples are read."""

import json
import re
from pathlib import Path

from assay.agent.config import AgentConfig
from assay.agent.messages import VERBS, CheckRequest, read_request
from assay.spec.toml_file import read_toml, validated

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/guide/agent.md").read_text("utf-8")
FORMAT = (ROOT / "docs/formats/agent.md").read_text("utf-8")


def test_the_guide_names_every_key() -> None:
    keys = {field.alias or name for name, field in AgentConfig.model_fields.items()}
    assert {key for key in keys if f"`{key}`" not in GUIDE} == {"schema"}


def test_the_example_of_the_guide_is_read(tmp_path: Path) -> None:
    content = re.search(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    assert content
    path = tmp_path / "agent.toml"
    path.write_text(content[1])
    config = validated(AgentConfig, path, *read_toml(path))
    assert (config.may_erase, config.devices[0].backing) == (("S4EVNX0M123456",), "/srv/drive.img")


def test_the_example_of_the_format_is_read() -> None:
    line = FORMAT.split("```json\n")[1].split("\n")[0]
    assert isinstance(read_request(line.encode()), CheckRequest)
    assert json.loads(line)["plan"] == {"suite": "quick"}


def test_the_format_has_a_row_for_each_verb() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", FORMAT, re.MULTILINE)) - {"verb"} == set(VERBS)
