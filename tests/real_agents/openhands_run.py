"""Let the OpenHands SDK work in the current folder with the hooks that its own configuration finds. Its Python runs this.

python openhands_run.py PROMPT | --continue PROMPT
"""

from __future__ import annotations

import os
import sys
import uuid
from pathlib import Path


def main() -> None:
    """Run one conversation, a new one or the newest."""
    from openhands.sdk import LLM, Agent, Conversation, Tool
    from openhands.sdk.hooks import HookConfig
    from openhands.tools.file_editor import FileEditorTool
    from openhands.tools.terminal import TerminalTool
    from pydantic import SecretStr

    store = Path.home() / ".openhands/conversations"
    known = sorted(store.glob("*/base_state.json"), key=lambda path: path.stat().st_mtime)
    goes_on = "--continue" in sys.argv[1:]
    name = uuid.UUID(known[-1].parent.name) if goes_on else uuid.uuid4()
    llm = LLM(model="openai/mock-model", base_url=os.environ["SCRIPTED_URL"], api_key=SecretStr(os.environ["SCRIPTED_KEY"]),
              usage_id="agent", num_retries=1)  # fmt: skip
    agent = Agent(llm=llm, tools=[Tool(name=TerminalTool.name), Tool(name=FileEditorTool.name)])
    conversation = Conversation(agent=agent, workspace=os.getcwd(), persistence_dir=str(store), conversation_id=name,
                                hook_config=HookConfig.load(working_dir=os.getcwd()), visualizer=None)  # fmt: skip
    conversation.send_message(sys.argv[-1])
    conversation.run()
    print("state:", conversation.state.execution_status)
    conversation.close()


if __name__ == "__main__":
    main()
