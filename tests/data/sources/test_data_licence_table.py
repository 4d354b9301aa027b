"""The licences of single files, as a table beside them tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from passdown.data.engine.ingest import find_inputs
from passdown.data.sources.licence_table import read_licences
from passdown.errors import FormatError, UsageError

TSV = 'file\tnote\tlicence\na/one.jsonl\t"half a quotation\tMIT\ntwo.jsonl\tx\tnone stated (a copy)\nshort\n\n'


def test_each_file_has_the_licence_of_its_row(tmp_path: Path) -> None:
    table = tmp_path / "INDEX.tsv"
    table.write_text(TSV)
    assert read_licences(table) == {"a/one.jsonl": "MIT", "two.jsonl": ""}
    runs = tmp_path / "runs"
    (runs / "a").mkdir(parents=True)
    for name in ("a/one.jsonl", "two.jsonl", "three.jsonl"):
        (runs / name).write_text("{}\n")
    found = find_inputs([runs], licence="Apache-2.0", licences=read_licences(table))
    assert {entry.name: entry.licence for entry in found} == {
        "a/one.jsonl": "MIT", "two.jsonl": "", "three.jsonl": "Apache-2.0",
    }  # fmt: skip


def test_commas_and_american_headings_do_as_well(tmp_path: Path) -> None:
    table = tmp_path / "index.csv"
    table.write_bytes(b'\xef\xbb\xbfPath,License\r\n"a, b.jsonl",CC-BY-4.0\r\n')
    assert read_licences(table) == {"a, b.jsonl": "CC-BY-4.0"}


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "index.csv"
    table.write_text("name,terms\nx,MIT\n")
    with pytest.raises(FormatError, match="columns"):
        read_licences(table)
    table.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        read_licences(table)
    with pytest.raises(UsageError, match="cannot be read"):
        read_licences(tmp_path / "absent.tsv")
