// As little as loading a session can be: rows out of SQLite, each into a line, lines into the pipe.

import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";

const [path = ""] = process.argv.slice(2);
const database = new DatabaseSync(path, { readOnly: true });
const rows = database.prepare(
  "SELECT body FROM entry WHERE session = (SELECT key FROM session WHERE id = ?) ORDER BY seq",
);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as {
    id: number;
    method: string;
    params: { sessionId: string };
  };
  if (method === "session/load") send(params.sessionId);
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"sessionId":"s"}}\n`);
});

function send(sessionId: string): void {
  let text = "";
  for (const row of rows.iterate(sessionId)) {
    text += `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":${String(row["body"])}}}\n`;
    if (text.length < 64 * 1024) continue;
    process.stdout.write(text);
    text = "";
  }
  process.stdout.write(text);
}
