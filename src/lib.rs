//! squire keeps one list of MCP servers and equips any coding agent with it for one launch.

pub mod mcp;
