// A program: an agent without any library. It answers every request and sends an update in the same write, so
// that a client gets both in one chunk.

let rest = "";

process.stdin.setEncoding("utf8").on("data", (text: string) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id } = JSON.parse(line) as { id: number };
    const update = { sessionUpdate: "session_info_update", title: `after ${id}` };
    const messages = [
      { jsonrpc: "2.0", id, result: { sessionId: `session-${id}` } },
      { jsonrpc: "2.0", method: "session/update", params: { sessionId: `session-${id}`, update } },
    ];
    process.stdout.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  }
});
