"""Asks its model what its task says, and takes a refusal as programs do: quietly, as its own words, or as a failure of the endpoint."""
import json, os, sys, urllib.request

task = json.loads(sys.stdin.readline())["task"]


def ask(tools):
    body = {"model": os.environ["JURAT_MODEL"], "messages": [{"role": "user", "content": task}]}
    if tools:
        body["tools"] = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    request = urllib.request.Request(
        os.environ["JURAT_BASE_URL"] + "/v1/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": "Bearer " + os.environ["JURAT_API_KEY"]},
    )
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]


ask(tools=True)
if task == "titled":
    ask(tools=False)
if task == "again":
    ask(tools=True)
if task == "failing":
    print(json.dumps({"type": "error", "source": "provider", "message": "the model gave nothing"}))
else:
    print(json.dumps({"type": "final", "text": {"own words": "Sorry.", "again": "Done."}.get(task, "")}))
