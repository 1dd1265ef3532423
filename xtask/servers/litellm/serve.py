"""The LiteLLM proxy on loopback, with the models of config.yaml beside this file.

usage: serve.py PORT

It ends when its standard input does, so it never outlives whoever started it.
"""

import os
import pathlib
import sys
import threading


def end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    threading.Thread(target=end_with_input, daemon=True).start()
    # It would fetch prices and send statistics otherwise; the tests have loopback only.
    os.environ.update(
        LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_TELEMETRY="False", DISABLE_ADMIN_UI="True", NO_PROXY="*"
    )
    from litellm import run_server

    config = pathlib.Path(__file__).with_name("config.yaml")
    sys.argv[1:] = ["--config", str(config), "--host", "127.0.0.1", "--port", sys.argv[1]]
    run_server()


main()
