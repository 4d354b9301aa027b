"""The server itself: the protocol's package is met here and in `wire.py` alone."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from passdown import __version__
from passdown.errors import PassdownError
from passdown.mcp.answers import NOTICE
from passdown.mcp.arguments import schema_of
from passdown.mcp.asker import mark
from passdown.mcp.resources import RESOURCES, TEMPLATE, Resource, read_resource
from passdown.mcp.tools import INSTRUCTIONS, TOOLS, Tool, call_tool
from passdown.mcp.wire import open_wire
from passdown.redact.neutralise import one_line

_NOTICE = {"passdown/notice": NOTICE}


def serve(folder: Path) -> None:
    """Serve the repository around `folder` over standard input and output until the client leaves.

    A signal ends it at once: every file is written whole or not at all, and the system lets go of the locks.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    try:
        anyio.run(_Service(folder.resolve()).run)
    except* BrokenPipeError:  # the client is gone
        pass


class _Service:
    """One repository, one client, one call at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.one_call = anyio.CapacityLimiter(1)
        self.client = ""
        self.server: Server[dict[str, Any]] = Server(
            "passdown",
            version=__version__,
            title="passdown",
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read,
        )
        self.server.middleware.clear()  # it would report every call to wherever the environment says

    async def run(self) -> None:
        async with open_wire() as (incoming, outgoing):
            await self.server.run(incoming, outgoing, self.server.create_initialization_options())

    async def list_tools(self, _: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_as_listed(tool) for tool in TOOLS])

    async def call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        self._meet(context)
        given = params.arguments or {}
        work = partial(call_tool, self.folder, params.name, given)
        done = await anyio.to_thread.run_sync(work, limiter=self.one_call)
        text = types.TextContent(type="text", text=done.text)
        return types.CallToolResult(content=[text], structured_content=done.data, is_error=done.failed)

    async def list_resources(self, _: Any, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        found = [
            types.Resource(uri=r.uri, name=r.name, description=r.description, mime_type=r.kind) for r in RESOURCES
        ]  # fmt: skip
        return types.ListResourcesResult(resources=found)

    async def list_templates(
        self, _: Any, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[_as_template(TEMPLATE)])

    async def read(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        self._meet(context)
        uri = str(params.uri)
        try:
            work = partial(read_resource, self.folder, uri)
            found = await anyio.to_thread.run_sync(work, limiter=self.one_call)
        except (PassdownError, OSError) as error:
            raise MCPError(code=types.INVALID_PARAMS, message=one_line(str(error), 400)) from None
        content = types.TextResourceContents(uri=uri, mime_type=found.kind, text=found.text, _meta=_NOTICE)
        return types.ReadResourceResult(contents=[content])

    def _meet(self, context: Any) -> None:
        """Mark the process as this client's, once: a connection has one."""
        if not self.client:
            params = context.session.client_params
            self.client = params.client_info.name if params is not None else "?"
            mark(self.client, os.environ)


def _as_listed(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=tool.looks, destructive_hint=False, idempotent_hint=tool.same, open_world_hint=False
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(tool.arguments),
        annotations=hints,
    )


def _as_template(resource: Resource) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=resource.uri,
        name=resource.name,
        description=resource.description,
        mime_type=resource.kind,
    )
