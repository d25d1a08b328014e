// Bare Node: answers `initialize` by hand, imports nothing. JavaScript, so that no type stripping is measured.

const result = { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: "bare", version: "1.0.0" } };
let rest = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id } = JSON.parse(line);
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
  }
});
