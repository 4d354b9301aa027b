"""The same jobs under Ray Data: every shard is a row of a dataset, every node makes shards of shared storage."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import msgspec

from passdown.data.engine.manifest import Finished
from passdown.data.engine.run import Job, run_job
from passdown.errors import UsageError


def run_jobs(jobs: list[Job]) -> Iterator[list[Finished]]:
    """Run the jobs on the Ray cluster of this process, or on a local one, and yield each as it ends.

    The folders must be storage that every node sees. Raises `UsageError` when Ray Data is not installed.
    """
    try:
        import ray.data
    except ModuleNotFoundError as missing:
        raise UsageError(
            "the backend ray needs the extra `ray`", next_step='Run `pip install "passdown[ray]"`.'
        ) from missing
    if not jobs:
        return
    if not ray.is_initialized():
        ray.init(log_to_driver=False, logging_level="warning")
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = [{"job": msgspec.json.encode(job)} for job in jobs]
    done = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(_made, batch_size=1)
    for row in done.iter_rows():
        yield msgspec.json.decode(row["finished"], type=list[Finished])


def _made(batch: dict[str, Any]) -> dict[str, list[bytes]]:
    jobs = [msgspec.json.decode(text, type=Job) for text in batch["job"]]
    return {"finished": [msgspec.json.encode(run_job(job)) for job in jobs]}
