"""A small MCP server for `mcp_servers.py`, over stdio."""

from __future__ import annotations

from mcp.server import MCPServer
from pydantic import BaseModel

server = MCPServer("weather")


class Forecast(BaseModel):
    """The weather of tomorrow."""

    city: str
    celsius: int


@server.tool()
def get_forecast(city: str) -> Forecast:
    """Tells what the weather in a city will be."""
    return Forecast(city=city, celsius=len(city) * 4)


if __name__ == "__main__":
    server.run("stdio")
