// A program: an agent without a library that sends each answer and an update in one write.

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
