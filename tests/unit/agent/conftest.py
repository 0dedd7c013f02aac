"""An agent of a test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_trial import config_in, serving
from assay.agent.channel import AgentClient
from assay.agent.config import AgentConfig


@pytest.fixture
def config(tmp_path: Path) -> AgentConfig:
    return config_in(tmp_path)


@pytest.fixture
def client(config: AgentConfig) -> Iterator[AgentClient]:
    with serving(config) as client:
        yield client
