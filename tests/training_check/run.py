"""One step of real training on what `passdown data` exports: `datasets`, TRL's SFT and GRPO, a tiny model, no network.

Run by `.ci/training` with an interpreter that has torch, transformers, trl and datasets. Nothing is downloaded: the
tokenizer is trained on the exported text, the model has random weights. Any `assert` that fails ends it with 1.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from datasets import Dataset, load_dataset

from passdown.data.samples.messages import Called, Message
from passdown.data.samples.template import CHAT_TEMPLATE, END, START, text_of

PAD = "<|endoftext|>"
WINDOW = 1024
PIPELINE = """\
[[source]]
path = "worlds.txt"
format = "worlds"
[split]
validation = 0
test = 0
[points]
per_trajectory = 2
[perturb]
per_cut = 1
[samples]
self_tails = 1.0
[export]
targets = ["hf"]
"""
WORLDS = "durations-a careful\ndurations-a hasty\ndurations-b careful\ndurations-b looper\n"
Row = dict[str, Any]


def main() -> int:
    """Run everything in a folder that is thrown away."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="passdown-training-") as home:
        work = Path(home)
        (work / "worlds.txt").write_text(WORLDS)
        (work / "pipeline.toml").write_text(PIPELINE)
        passdown("pipeline", work / "pipeline.toml")
        rows = loaded(work / "handoff-data/export/hf")
        check_again(work, rows)
        tokenizer = trained_tokenizer(work / "tokenizer.json", rows)
        told = export(work, "plain")
        sft = check_labels(work / "plain", rows, tokenizer)
        check_observations(work, rows, tokenizer)
        check_template(work / "plain", tokenizer)
        check_windows(work, tokenizer)
        prompts = table(work / "plain", "prompts")
        counted = len({row["sample_id"] for row in sft}) + len(prompts) + len(table(work / "plain", "echo"))
        assert counted == sum(told["samples"].values()), (counted, told)
        assert sum(told["samples"].values()) + sum(told["dropped"].values()) == len(rows), told
        print(f"exported: {counted} of {len(rows)} samples; dropped {told['dropped'] or 'nothing'}")
        step_of_sft(work, tokenizer)
        check_messages(work, sft, tokenizer)
        step_of_grpo(prompts, tokenizer, work)
    print(f"training check: all of it in {time.monotonic() - begun:.0f} s")
    return 0


def passdown(*words: Any) -> str:
    """Run `passdown data …` as a user does."""
    argv = [sys.executable, "-m", "passdown", "data", *map(str, words)]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def export(work: Path, name: str, *more: str) -> Row:
    """Export to TRL's tables into a folder, and return what was said of it."""
    target = ("--to", "trl", "-o", work / name, "--tokenizer", work / "tokenizer.json", "--json")
    told: Row = json.loads(passdown("export", work / "handoff-data", *target, *more))
    return told


def loaded(folder: Path) -> dict[str, Row]:
    """Load every configuration of the hub's folder by its name alone; return the rows by sample."""
    from datasets import get_dataset_config_names

    rows: dict[str, Row] = {}
    for name in get_dataset_config_names(str(folder)):
        for row in load_dataset(str(folder), name, split="train"):
            assert row["kind"] == name
            rows[row["sample_id"]] = row
    kinds = sorted({row["kind"] for row in rows.values()})
    assert kinds == ["echo", "plain", "reconstruction", "rl", "sft"], kinds
    print(f"datasets: {len(rows)} samples in {len(kinds)} configurations")
    return rows


def check_again(work: Path, rows: dict[str, Row]) -> None:
    """Load another export from a folder of the same name: `datasets` must not take it for the first."""
    shutil.copytree(work / "handoff-data", work / "fewer")
    passdown("build", work / "fewer", "--kind", "rl", "--per-trajectory", "3")
    passdown("export", work / "fewer", "--to", "hf", "-o", work / "again/hf")
    again = load_dataset(str(work / "again/hf"), "rl", split="train")
    assert 0 < len(again) < sum(row["kind"] == "rl" for row in rows.values()), len(again)
    assert len(load_dataset(str(work / "again/hf"))["train"]) == len(again), "the only kind is the default one"


def table(folder: Path, name: str) -> Dataset:
    """Load one table of an export to TRL."""
    return load_dataset("parquet", data_files=f"{folder}/*/{name}.parquet", split="train")


def trained_tokenizer(path: Path, rows: dict[str, Row]) -> Any:
    """Train a small byte-level BPE on the exported text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    how = trainers.BpeTrainer(
        vocab_size=2000, special_tokens=[PAD, START, END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )  # fmt: skip
    texts = {message["content"] for row in rows.values() for message in row["messages"]}
    made.train_from_iterator(sorted(texts), how)
    made.save(str(path))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, pad_token=PAD, eos_token=END)
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def said(row: Row, tokenizer: Any) -> str:
    """Return the text of a row's labels."""
    return str(tokenizer.decode([label for label in row["labels"] if label != -100]))


def learned(row: Row) -> str:
    """Return what is to be learned of a sample: the bodies of the messages whose role in training is 1 or 4."""
    parts = zip(row["messages"], row["parts"], strict=True)
    return "".join(body(message) + END for message, part in parts if part in (1, 4))


def body(message: Row) -> str:
    """Return the text of a message as the template has it."""
    calls = tuple(
        Called(id=call["id"], name=call["function"]["name"], arguments=call["function"]["arguments"])
        for call in message["tool_calls"] or ()
    )
    thought = message["reasoning_content"] or ""
    return text_of(Message(role=message["role"], content=message["content"], reasoning=thought, calls=calls)).body


def lines_of(messages: list[Row]) -> set[str]:
    """Return the lines of some length that stand in messages."""
    return {line.strip() for one in messages for line in one["content"].splitlines() if len(line.strip()) > 20}


def check_labels(folder: Path, rows: dict[str, Row], tokenizer: Any) -> Dataset:
    """Decode the labels: the successor's turns, word for word; no line of the view, none of the environment's."""
    sft = table(folder, "sft")
    compared = 0
    for row in sft:
        whole = rows[row["sample_id"]]
        text = said(row, tokenizer)
        assert text == learned(whole), row["sample_id"]
        follows = whole["messages"][whole["prompt"] :]
        own = "\n".join(body(message) for message in follows if message["role"] == "assistant")
        foreign = lines_of(whole["messages"][: whole["prompt"]]) | lines_of(
            [message for message in follows if message["role"] != "assistant"]
        )
        strange = {line for line in foreign if line not in own}
        compared += len(strange)
        assert not [line for line in strange if line in text], row["sample_id"]
    assert compared > 1000, "there was something to find"
    print(
        f"labels: {len(sft)} rows are the successor's turns alone ({compared:,} foreign lines looked for, none found)"
    )
    return sft


def check_observations(work: Path, rows: dict[str, Row], tokenizer: Any) -> None:
    """With `--observations` the environment's text has labels too, and still nothing of the prompt."""
    export(work, "observed", "--observations", "--kind", "sft")
    found = 0
    for row in table(work / "observed", "sft"):
        whole = rows[row["sample_id"]]
        text = said(row, tokenizer)
        tools = [one for one in whole["messages"][whole["prompt"] :] if one["role"] == "tool"]
        found += sum(line in text for line in lines_of(tools))
        inside = "\n".join(body(message) for message in whole["messages"][whole["prompt"] :])
        assert not [line for line in lines_of(whole["messages"][: whole["prompt"]]) - lines_of(tools)
                    if line not in inside and line in text]  # fmt: skip
        assert {role for role, label in zip(row["token_roles"], row["labels"], strict=True) if label != -100} == {1, 2}
    assert found > 100
    print(f"observations: {found:,} lines of the environment have labels when asked for")


def check_template(folder: Path, tokenizer: Any) -> None:
    """The Jinja template makes the same text of the messages as the rows hold."""
    for row in table(folder, "sft"):
        text = tokenizer.apply_chat_template(row["messages"], tools=row["tools"] or None, tokenize=False)
        assert text == tokenizer.decode(row["input_ids"]), row["sample_id"]


def check_windows(work: Path, tokenizer: Any) -> None:
    """Rows of at most `WINDOW` tokens hold the same targets, each once, the last one too."""
    told = export(work, "windows", "--max-tokens", str(WINDOW))
    parts: dict[str, str] = {}
    for row in sorted(table(work / "windows", "sft"), key=lambda row: int(row["window"])):
        assert len(row["input_ids"]) <= WINDOW
        parts[row["sample_id"]] = parts.get(row["sample_id"], "") + said(row, tokenizer)
    assert not told["dropped"], told
    whole = {row["sample_id"]: said(row, tokenizer) for row in table(work / "plain", "sft")}
    assert parts == whole
    print(f"windows: {len(table(work / 'windows', 'sft'))} rows hold what {len(whole)} samples teach")


def tiny_model(tokenizer: Any) -> Any:
    """Return a Llama of two layers with random weights, always the same."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=8192, pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id, bos_token_id=None,
    )  # fmt: skip
    return LlamaForCausalLM(config)


def step_of_sft(work: Path, tokenizer: Any) -> None:
    """Train one step on the rows of tokens. TRL drops rows without a target in silence: there may be none."""
    from trl import SFTConfig, SFTTrainer

    rows = table(work / "windows", "sft").select_columns(["input_ids", "labels"])
    model = tiny_model(tokenizer)
    before = model.model.layers[0].mlp.up_proj.weight.detach().clone()
    how = SFTConfig(
        output_dir=str(work / "sft"), max_steps=1, per_device_train_batch_size=2, max_length=None, packing=False,
        report_to=[], save_strategy="no", use_cpu=True, learning_rate=1e-3, logging_steps=1, disable_tqdm=True, bf16=False,
    )  # fmt: skip
    trainer = SFTTrainer(model=model, args=how, train_dataset=rows, processing_class=tokenizer)
    assert len(trainer.train_dataset) == len(rows), (len(trainer.train_dataset), len(rows))
    batch = next(iter(trainer.get_train_dataloader()))
    wanted = [row["labels"] for row in rows]
    for labels in batch["labels"].tolist():
        kept = [label for label in labels if label != -100]
        assert kept in [[label for label in one if label != -100] for one in wanted], "the trainer's labels are ours"
    loss = trainer.train().training_loss
    assert math.isfinite(loss)
    assert abs(loss - math.log(len(tokenizer))) < 1, "random weights know nothing"
    assert not before.equal(model.model.layers[0].mlp.up_proj.weight.detach()), "something was learned"
    print(
        f"SFT: one step over {len(rows)} rows, none dropped; loss {loss:.3f} (ln vocabulary {math.log(len(tokenizer)):.3f})"
    )


def check_messages(work: Path, sft: Dataset, tokenizer: Any) -> None:
    """Without a tokenizer of ours TRL makes the tokens: from the messages, with the same targets."""
    from trl import SFTConfig, SFTTrainer

    passdown("export", work / "handoff-data", "--to", "trl", "-o", work / "messages")
    rows = table(work / "messages", "sft").select(range(4))
    how = SFTConfig(
        output_dir=str(work / "sft"), assistant_only_loss=True, max_length=None, report_to=[], use_cpu=True, bf16=False
    )
    trainer = SFTTrainer(model=tiny_model(tokenizer), args=how, train_dataset=rows, processing_class=tokenizer)
    ours = {tuple(row["input_ids"]): row["labels"] for row in sft}
    for made in trainer.train_dataset:
        assert made["labels"] == ours[tuple(made["input_ids"])], "the targets are those of the rows of tokens"
    assert len(trainer.train_dataset) == len(rows)
    print(f"messages: TRL makes the same tokens and targets of {len(rows)} rows of messages alone")


def step_of_grpo(prompts: Dataset, tokenizer: Any, work: Path) -> None:
    """Train one step of GRPO: four rollouts of one state, judged by a toy reward that tells them apart."""
    from trl import GRPOConfig, GRPOTrainer

    groups: list[set[str]] = []
    rewards: list[float] = []

    def judged(completions: list[Any], group_key: list[str], verifier: list[str], **_rest: Any) -> list[float]:
        assert all(json.loads(one)["fail_to_pass"] for one in verifier)
        groups.append(set(group_key))
        texts = [one[0]["content"] for one in completions]
        rewards.extend(len(set(text)) / (1 + len(text)) for text in texts)
        return rewards[-len(texts) :]

    fitting = [number for number, row in enumerate(prompts) if len(str(row["prompt"])) < 6000]
    rows = prompts.select(fitting)
    model = tiny_model(tokenizer)
    before = model.model.layers[0].mlp.up_proj.weight.detach().clone()
    how = GRPOConfig(
        output_dir=str(work / "grpo"), max_steps=1, per_device_train_batch_size=4, num_generations=4,
        max_completion_length=16, report_to=[], save_strategy="no", use_cpu=True, learning_rate=1e-3, logging_steps=1,
        disable_tqdm=True, bf16=False, temperature=1.0,
    )  # fmt: skip
    trainer = GRPOTrainer(model=model, args=how, train_dataset=rows, processing_class=tokenizer, reward_funcs=judged)
    assert len(trainer.train_dataset) == len(rows)
    trainer.train()
    assert [len(one) for one in groups] == [1], "the rollouts of a group begin in one state"
    assert len(set(rewards)) > 1, "rewards that are all alike teach nothing"
    assert not before.equal(model.model.layers[0].mlp.up_proj.weight.detach()), "something was learned"
    print(
        f"GRPO: one step, 4 rollouts of one of {len(rows)} states ({len(prompts)} with the long ones); rewards differ"
    )


if __name__ == "__main__":
    sys.exit(main())
