"""Makes the samples in this folder with the programs that usually write such files: openpyxl, pyarrow and datasets.

    pip install openpyxl==3.1.5 pyarrow==26.0.1 datasets==5.2.0
    python make.py
"""

from datetime import date, datetime, time
from pathlib import Path
import shutil

import openpyxl
import pyarrow as pa
import pyarrow.feather
from datasets import ClassLabel, Dataset, DatasetDict, Features, Sequence, Value

HERE = Path(__file__).parent


def workbook(name: str, sheets: dict[str, list[list[object]]]) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(HERE / name)


rows = [
    ["id", "question", "score", "ok", "on", "at", "clock", "tags"],
    ["r1", "How much?", 4, True, date(2026, 5, 3), datetime(2026, 5, 3, 9, 30), time(9, 30), '["a", "b"]'],
    [None] * 8,
    ["r2", "Größe 10 €?", 2.5, False, None, datetime(2026, 5, 3, 9, 30, 15, 250000), None, None],
]
workbook("typed.xlsx", {"Answers": rows, "Empty": []})
workbook("several.xlsx", {"First": [["a"], [1]], "Second": [["a", "b"], [2, 3]]})
workbook("faulty.xlsx", {"Sheet": [["a", "b"], [1, "#N/A"], [2, None]]})
book = openpyxl.load_workbook(HERE / "faulty.xlsx")
book.active["B2"].data_type = "e"
book.save(HERE / "faulty.xlsx")
workbook("repeated.xlsx", {"Sheet": [["a", "a"], [1, 2]]})
workbook("beyond.xlsx", {"Sheet": [["a"], [1, "stray"]]})

table = pa.table(
    {
        "id": ["r1", "r2", "r3"],
        "text": pa.array(["one", "zwei", None], pa.large_string()),
        "kind": pa.array(["x", "y", "x"]).dictionary_encode(),
        "score": pa.array([0.5, 2.0, None]),
        "n": pa.array([1, 2**63, 3], pa.uint64()),
        "day": pa.array([date(2026, 5, 3), None, date(1999, 12, 31)]),
        "at": pa.array([datetime(2026, 5, 3, 9, 30)] * 3, pa.timestamp("s", "UTC")),
        "passages": pa.array([["a", "b"], [], None], pa.large_list(pa.string())),
        "pair": pa.array([[1, 2], [3, 4], None], pa.list_(pa.int32(), 2)),
        "meta": pa.array([{"k": 1}, {"k": 2}, None]),
        "view": pa.array(["v", "w", None], pa.string_view()),
    }
)
pa.feather.write_feather(table, HERE / "table.feather", compression="zstd")
pa.feather.write_feather(table, HERE / "table-lz4.feather", compression="lz4")
with pa.OSFile(str(HERE / "stream.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
    writer.write_table(table, max_chunksize=2)
with pa.OSFile(str(HERE / "bytes.arrow"), "wb") as sink:
    with pa.ipc.new_file(sink, pa.schema({"raw": pa.binary()})) as writer:
        writer.write_table(pa.table({"raw": [b"\x00"]}))

features = Features({"id": Value("string"), "question": Value("string"), "label": ClassLabel(names=["no", "yes"]), "contexts": Sequence(Value("string"))})
data = {"id": [f"q{it}" for it in range(5)], "question": [f"Question {it}?" for it in range(5)], "label": [0, 1, 0, 1, 1], "contexts": [["c"] * it for it in range(5)]}
dataset = Dataset.from_dict(data, features=features)
for name in ["dataset", "splits", "parquet", "selected"]:
    shutil.rmtree(HERE / name, ignore_errors=True)
dataset.save_to_disk(HERE / "dataset", num_shards=2)
DatasetDict({"train": dataset, "test": dataset.select(range(2))}).save_to_disk(HERE / "splits")
dataset.select([4, 0, 2]).save_to_disk(HERE / "selected")
(HERE / "parquet").mkdir()
dataset.to_parquet(HERE / "parquet" / "train-00000-of-00001.parquet")
dataset.info.write_to_directory(HERE / "parquet")
