"""The reference server of the Model Context Protocol over streamable HTTP, on loopback.

usage: serve.py PORT

It ends when its standard input does, so it never outlives whoever started it. The servers that talk over standard input and output are started by
those who ask them.
"""

import os
import pathlib
import subprocess
import sys
import threading


def main() -> int:
    program = pathlib.Path(sys.prefix) / "node_modules/.bin/mcp-server-everything"
    loopback = pathlib.Path(__file__).with_name("loopback.js")
    command = ["node", "--require", str(loopback), str(program), "streamableHttp"]
    server = subprocess.Popen(command, env={**os.environ, "PORT": sys.argv[1]}, stdin=subprocess.DEVNULL)

    def end_with_input() -> None:
        sys.stdin.buffer.read()
        server.kill()

    threading.Thread(target=end_with_input, daemon=True).start()
    return server.wait()


sys.exit(main())
