"""The MCP server: a few tools and resources over stdio, each one call of a use case."""
