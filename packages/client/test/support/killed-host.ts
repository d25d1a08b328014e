// A program: a host that a test kills. Commands come as lines on stdin; events of a tail and outcomes go to stdout, which
// Node writes at once: what a test has read was acknowledged.
// Arguments: the file of the history, the working directory, the session to continue or "", the command of the agent.

import { createInterface } from "node:readline";
import type { SessionCommand } from "@parley/client/conversation";
import { openHistory } from "@parley/client/history";
import { openHost } from "@parley/client/host";

const [path = "", cwd = "", session = "", ...command] = process.argv.slice(2);
const put = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);
const host = openHost(command, {
  name: "killed-host",
  version: "1.0.0",
  cwd,
  backoffMs: 0,
  maxRestarts: 1_000_000,
  history: openHistory({ path }),
  permissions: { rules: ["allow write **"] },
});
const link = host.open(session === "" ? {} : { session });
link.tail("", (event) => put({ event }));
createInterface({ input: process.stdin })
  .on("line", (line) => {
    const given = JSON.parse(line) as SessionCommand; // of the test
    link.submit(given).then(
      () => put({ outcome: given.key }),
      (error: unknown) => put({ failed: given.key, why: String(error) }),
    );
  })
  .on("close", () => void host.close().then(() => process.exit()));
