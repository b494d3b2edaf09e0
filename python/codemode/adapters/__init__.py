"""A run's tools for those who have a loop of their own.

`wire` puts `run.model_tools` into the form of a provider's request and needs no library. The
toolsets import their library when they are used:

    from codemode.adapters import wire
    from codemode.adapters.pydantic_ai import CodeModeToolset
    from codemode.adapters.langchain import langchain_tools
    from codemode.adapters.fastmcp import CodeModeSandbox
"""

from __future__ import annotations
