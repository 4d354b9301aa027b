"""What datatrove takes for the same work, in an environment that has it: run by path, prints one JSON object.

    pip install datatrove==0.10.1 pyarrow orjson regex tokenizers nltk "xxhash<4"

Arguments: a file of rows as JSON lines, a file of texts (one JSON string a line), a folder to write to.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

GRAM, BUCKETS, HASHES = 5, 16, 8


def _document(self: Any, data: dict[str, Any], path: str, number: int) -> dict[str, Any]:
    del self, path
    text = "\n".join(str(message["content"]) for message in data["trajectory"])
    return {"text": text, "id": data.get("trajectory_id", str(number)), "metadata": {"repo": data["repo"],
            "record": json.dumps(data["trajectory"])}}  # fmt: skip


def copied(rows: Path, out: Path) -> dict[str, float]:
    """Read JSON lines, filter, write Parquet; the second time counts, when everything is loaded."""
    from datatrove.pipeline.filters import LambdaFilter
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import ParquetWriter

    spent, count = 0.0, 0
    for turn in range(3):
        began = time.process_time()
        reader = JsonlReader(str(rows.parent), glob_pattern=rows.name, adapter=_document)
        keep = LambdaFilter(lambda document: len(document.text) > 1000)
        with ParquetWriter(str(out / f"copied-{turn}"), compression="zstd") as writer:
            count = sum(1 for _ in writer.run(keep.run(reader.run())))
        taken = time.process_time() - began
        spent = taken if turn == 1 else min(spent, taken)
    return {"rows": count, "seconds": spent}


def signed(texts: list[str], out: Path) -> dict[str, float]:
    """Make MinHash signatures with a plain tokenizer."""
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature
    from datatrove.utils.word_tokenizers import WordTokenizer

    class Plain(WordTokenizer):  # type: ignore[misc]
        def word_tokenize(self, text: str) -> list[str]:
            return text.split()

        def sent_tokenize(self, text: str) -> list[str]:
            return [text]

        def span_tokenize(self, text: str) -> list[tuple[int, int]]:
            return [(0, len(text))]

    config = MinhashConfig(n_grams=GRAM, num_buckets=BUCKETS, hashes_per_bucket=HASHES)
    step = MinhashDedupSignature(str(out / "unused"), config, language=Plain("plain"))
    spent = 0.0
    for turn in range(3):
        began = time.process_time()
        for text in texts:
            step.get_signature(step.get_shingles(text))
        taken = time.process_time() - began
        spent = taken if turn == 1 else min(spent, taken)
    return {"texts": len(texts), "seconds": spent}


def main() -> None:
    """Measure both."""
    rows, texts, out = (Path(word) for word in sys.argv[1:4])
    from importlib.metadata import version

    listed = [json.loads(line) for line in texts.read_text("utf-8").splitlines()]
    told = {"version": version("datatrove"), "copied": copied(rows, out), "signed": signed(listed, out)}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
