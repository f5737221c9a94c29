"""A server of the official Python SDK, of its versions 1 and 2: a tool of each kind, a resource, a prompt."""

import asyncio

from pydantic import BaseModel

try:
    from mcp.server import MCPServer as Server
    from mcp.server.mcpserver import Context
except ImportError:
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as Server

server = Server("python")
cancelled = []


class Name(BaseModel):
    name: str


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts, and tells how far it is."""
    for number in range(to):
        await ctx.report_progress(number + 1, to)
    return f"counted to {to}"


@server.tool()
async def wait() -> str:
    """Waits until it is cancelled."""
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        cancelled.append("wait")
        raise
    return "waited"


@server.tool()
def cancellations() -> str:
    """Says how often the waiting was cancelled."""
    return f"cancelled {len(cancelled)}"


@server.tool()
async def ask(ctx: Context) -> str:
    """Asks the user for a name."""
    answer = await ctx.elicit("Who are you?", schema=Name)
    return f"{answer.action}: {answer.data.name}"


@server.resource("test://text")
def text() -> str:
    """A text."""
    return "a text"


@server.prompt()
def greet(name: str) -> str:
    """Greets somebody."""
    return f"Greet {name}."


server.run("stdio")
