"""A server with two tools, over standard input and output: counting what is in stock, and ordering more."""

import json
import sys
from typing import Any

STOCK = {"kettle": 4, "lamp": 0}

ARTICLE = {"type": "object", "properties": {"article": {"type": "string"}}, "required": ["article"]}
TOOLS = [
    {"name": "count", "description": "Says how many of an article are in stock.", "inputSchema": ARTICLE},
    {"name": "order", "description": "Orders ten more of an article.", "inputSchema": ARTICLE},
]


def called(name: str, article: str) -> tuple[str, bool]:
    """What a tool returns, and whether that is an error."""
    if article not in STOCK:
        return f"there is no article {article!r}", True
    if name == "order":
        STOCK[article] += 10
    return str(STOCK[article]), False


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    if method == "initialize":
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "warehouse", "version": "1"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        text, is_error = called(params["name"], params["arguments"].get("article"))
        return {"content": [{"type": "text", "text": text}], "isError": is_error}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
