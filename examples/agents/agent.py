"""An agent in a few lines: it reads its task, works in the current directory, and tells what it does in JSON lines."""
import json
import sys
from typing import Any


def tell(kind: str, **members: Any) -> None:
    print(json.dumps({"type": kind, **members}), flush=True)


asked = json.load(sys.stdin)
tell("tool_call", id="1", name="read_file", arguments={"path": "notes.txt"})
notes = open("notes.txt").read().splitlines()
tell("tool_result", id="1", output="\n".join(notes), is_error=False)

orders = sorted({word.strip(":;") for note in notes for word in note.split() if word.strip(":;").isdigit()})
report = f"# Notes\n\n{len(notes)} notes about orders {', '.join(orders)}.\n"
tell("tool_call", id="2", name="write_file", arguments={"path": "report.md", "content": report})
open("report.md", "w").write(report)
tell("tool_result", id="2", output="", is_error=False)
tell("final", text=f"report.md sums up {len(notes)} notes.")
