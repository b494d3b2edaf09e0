"""An MCP server without an SDK, so that it can say anything. Its one argument is JSON:

    start    "never" | "exit" | "modern" | seconds of delay before initialize is answered
    noise    text on stdout and stderr before anything else
    pages    list of lists of raw tools; `loop` repeats the last page's cursor for ever
    results  tool name -> raw result of tools/call (a string "ERROR:…" becomes a protocol error,
             "LINE:…" is the whole answer, as it stands, in latin-1; ID in it is the id)
    log      file that gets one line per event: start, call NAME, cancelled ID, eof
    children start a child that outlives us
    no_eof   ignore the end of stdin and SIGTERM

Tools known without `results`: crash, hang, echo, add_tool, progress, pid.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

spec = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
pages = spec.get("pages", [[{"name": "echo", "inputSchema": {"type": "object"}}]])


def log(line):
    if "log" in spec:
        with Path(spec["log"]).open("a") as f:
            f.write(line + "\n")


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request, result):
    send({"id": request["id"], "result": result})


def refuse(request, message, code=-32000):
    send({"id": request["id"], "error": {"code": code, "message": message}})


def list_tools(request):
    cursor = (request.get("params") or {}).get("cursor")
    n = int(cursor) if cursor else 0
    result = {"tools": pages[min(n, len(pages) - 1)]}
    if n + 1 < len(pages):
        result["nextCursor"] = str(n + 1)
    elif spec.get("loop"):
        result["nextCursor"] = str(len(pages) - 1)
    elif spec.get("endless"):
        result["nextCursor"] = str(n + 1)
    answer(request, result)


def call(request):
    params = request["params"]
    name, given = params["name"], params.get("arguments")
    log(f"call {name}")
    if name in spec.get("results", {}):
        result = spec["results"][name]
        if isinstance(result, str) and result.startswith("ERROR:"):
            refuse(request, result[6:])
        elif isinstance(result, str) and result.startswith("LINE:"):
            line = result[5:].replace("ID", str(request["id"])) + "\n"
            sys.stdout.buffer.write(line.encode("latin-1"))
            sys.stdout.buffer.flush()
        else:
            answer(request, result)
    elif name == "crash":
        sys.stderr.write("about to crash\n")
        sys.stderr.flush()
        os._exit(7)
    elif name == "hang":
        log(f"hanging {request['id']}")
    elif name == "pid":
        answer(request, {"content": [], "structuredContent": {"pid": os.getpid()}})
    elif name == "add_tool":
        pages[-1].append({"name": given["name"], "inputSchema": {"type": "object"}})
        send({"method": "notifications/tools/list_changed"})
        answer(request, {"content": []})
    elif name == "progress":
        token = (params.get("_meta") or {}).get("progressToken")
        for n in (1, 2):
            note = {"progressToken": token, "progress": n, "total": 2, "message": f"step {n}"}
            send({"method": "notifications/progress", "params": note})
        answer(request, {"content": []})
    else:
        answer(request, {"content": [{"type": "text", "text": json.dumps(given)}]})


def initialize(request):
    start = spec.get("start")
    if start == "never":
        return
    if start == "modern":
        refuse(request, "only 2026-07-28", -32022)
        return
    if isinstance(start, (int, float)):
        time.sleep(start)
    answer(
        request,
        {
            "protocolVersion": "2025-06-18",
            "capabilities": spec.get("capabilities", {"tools": {"listChanged": True}}),
            "serverInfo": {"name": "scripted", "version": "1"},
            "instructions": spec.get("instructions"),
        },
    )


def discover(request):
    answer(
        request,
        {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "scripted", "version": "1"},
            "resultType": "complete",
            "ttlMs": 0,
            "cacheScope": "private",
        },
    )


HANDLERS = {
    "initialize": initialize,
    "server/discover": discover,
    "tools/list": list_tools,
    "tools/call": call,
}


def main():
    log(f"start {os.getpid()}")
    if "noise" in spec:
        noise = spec["noise"] * spec.get("times", 1) + "\n"
        sys.stdout.write(noise)
        sys.stderr.write(noise)
        sys.stdout.flush()
        sys.stderr.flush()
    if spec.get("start") == "exit":
        sys.exit(3)
    if spec.get("no_eof"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if spec.get("children"):
        child = subprocess.Popen(["sleep", "300"])
        log(f"child {child.pid}")
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "notifications/cancelled":
            log(f"cancelled {message['params']['requestId']}")
        elif method in HANDLERS:
            HANDLERS[method](message)
        elif method in spec.get("answers", {}):
            answer(message, spec["answers"][method])
        elif "id" in message and method:
            refuse(message, "Method not found", -32601)
    log("eof")
    while spec.get("no_eof"):
        time.sleep(1)


main()
