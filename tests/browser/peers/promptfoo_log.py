"""Repeats the results of an evaluation of promptfoo under other ids until there are enough: promptfoo_log.py N DATABASE.

What promptfoo stores of an evaluation of as many tests is stored here: a row for each result, every test in the configuration, and the counts of its prompt.
"""

import json
import sqlite3
import sys
import uuid


def named(text: str, ix: int) -> str:
    """The text of a result, about the test with this number."""
    first = ix % evaluated
    return text.replace(f"case-{first:07}", f"case-{ix:07}").replace(f"Question {first} ", f"Question {ix} ")


n, database = int(sys.argv[1]), sqlite3.connect(sys.argv[2])
rows = database.execute("SELECT * FROM eval_results ORDER BY test_idx").fetchall()
columns = [it[1] for it in database.execute("PRAGMA table_info(eval_results)")]
evaluated = len(rows)
texts = [columns.index(it) for it in ("test_case", "prompt", "response")]
places = columns.index("id"), columns.index("test_idx")


def repeated(ix: int) -> list:
    row = list(rows[ix % evaluated])
    row[places[0]], row[places[1]] = str(uuid.uuid4()), ix
    for place in texts:
        row[place] = named(row[place], ix)
    return row


marks = ",".join("?" * len(columns))
database.executemany(f"INSERT INTO eval_results VALUES ({marks})", (repeated(ix) for ix in range(evaluated, n)))
[(config, prompts)] = database.execute("SELECT config, prompts FROM evals").fetchall()
config, prompts = json.loads(config), json.loads(prompts)
tests = [json.dumps(it) for it in config["tests"]]
config["tests"] = [json.loads(named(tests[ix % evaluated], ix)) for ix in range(n)]
for name, count in prompts[0]["metrics"].items():
    if isinstance(count, (int, float)):
        prompts[0]["metrics"][name] = count * n / evaluated
database.execute("UPDATE evals SET config = ?, prompts = ?", (json.dumps(config), json.dumps(prompts)))
database.commit()
