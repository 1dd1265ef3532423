"""Asks its model again and again, whatever it hears."""
import json, os, urllib.error, urllib.request

body = json.dumps({"model": os.environ["JURAT_MODEL"], "messages": [{"role": "user", "content": "hello"}]}).encode()
while True:
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["JURAT_API_KEY"]}
    request = urllib.request.Request(os.environ["JURAT_BASE_URL"] + "/v1/chat/completions", body, headers)
    try:
        urllib.request.urlopen(request).read()
    except urllib.error.HTTPError:
        pass
