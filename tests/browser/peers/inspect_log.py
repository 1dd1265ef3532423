"""Writes a log of Inspect with many samples: inspect_log.py N FOLDER.

A few hundred samples are evaluated with Inspect's mock model, and repeated under other ids until there are enough: an evaluation takes ten milliseconds a sample.
"""

import itertools
import sys
import uuid

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

EVALUATED = 200


def outputs():
    """Answers that say what they used: else tokens are counted with a table that is downloaded."""
    for ix in itertools.count():
        output = ModelOutput.from_content("mockllm/model", f"answer {ix * 7919 % 1000}")
        output.usage = ModelUsage(input_tokens=12, output_tokens=6, total_tokens=18)
        yield output


n, folder = int(sys.argv[1]), sys.argv[2]
samples = [Sample(id=f"case-{ix:07}", input=f"Question {ix} about a topic", target=str(ix % 10)) for ix in range(EVALUATED)]
task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes(), name="peers")
model = get_model("mockllm/model", custom_outputs=outputs())
[written] = eval(task, model=model, log_dir=folder, log_format="eval", display="none")
log = read_eval_log(written.location)
assert log.status == "success" and len(log.samples) == EVALUATED, log.error
log.samples = [
    log.samples[ix % EVALUATED].model_copy(update={"id": f"case-{ix:07}", "uuid": uuid.uuid4().hex}) for ix in range(n)
]
log.results.total_samples = log.results.completed_samples = log.eval.dataset.samples = n
log.eval.dataset.sample_ids = [sample.id for sample in log.samples]
write_eval_log(log, written.location)
