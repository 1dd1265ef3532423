"""A program that is asked as a model and answers with the last message."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "text": request["messages"][-1]["content"]}), flush=True)
