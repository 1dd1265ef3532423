"""The viewer, started from a program."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit

import jurat
import pytest

SUITE = {
    "suite": "seen",
    "records": [{"id": "a", "answer": "yes"}, {"id": "b", "answer": "no"}],
    "tasks": [{"id": "says_yes", "field_path": "answer", "operator": "equals", "expected_value": "yes"}],
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> jurat.Run:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    return jurat.Suite.load("suite.json").run()


def fetched(url: str, path: str = "") -> str:
    parts = urlsplit(url)
    key = parts.query.removeprefix("key=")
    request = urllib.request.Request(f"http://{parts.netloc}{parts.path}{path}", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request) as answer:
        text: str = answer.read().decode()
        return text


def test_a_run_is_shown_until_the_viewer_is_stopped(run: jurat.Run) -> None:
    with run.view() as viewer:
        assert viewer.url.startswith("http://127.0.0.1:")
        assert "says_yes" in fetched(viewer.url)
        assert json.loads(fetched(viewer.url, "/cases.json"))["found"] == 2
        assert viewer.url in repr(viewer)
        assert "href=" in viewer._repr_html_()
    with pytest.raises(URLError):
        fetched(viewer.url)


def test_a_run_that_is_gone_has_no_viewer(run: jurat.Run) -> None:
    Path(run.path).unlink()
    with pytest.raises(jurat.JuratError):
        run.view()
