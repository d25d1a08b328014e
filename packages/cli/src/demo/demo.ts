// The wire at work: this process is the client, a second one is the agent, and every message that crosses
// between them is shown.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectionError, RequestError } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { type ClientPeer, clientPeer } from "@parley/acp/v1";
import type { Invocation } from "../command/command.ts";
import { launcher } from "../settings/installation.ts";
import { printable } from "../terminal/printable.ts";
import { WirePrinter } from "../trace/wire-printer.ts";

/** Where the demo's lines go: prose for people, one JSON object per line for scripts. */
interface Output {
  heading(text: string): void;
  message(from: "client" | "agent", text: string): void;
  end(exitCode: number | undefined): void;
}

export async function run({ values, json }: Invocation): Promise<number> {
  const pace = String(values.pace ?? "0");
  if (!/^\d{1,5}$/.test(pace)) {
    process.stderr.write(`parley: --pace takes milliseconds from 0 to 99999, got ${printable(pace)}\n`);
    return 2;
  }
  const output = json ? jsonOutput() : proseOutput();
  const workspace = await mkdtemp(join(tmpdir(), "parley-demo-"));
  try {
    await writeFile(join(workspace, "notes.txt"), "milk\nbread\na bicycle bell\n");
    return await play(workspace, output, pace);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function play(workspace: string, output: Output, pace: string): Promise<number> {
  const { transport, process: agentProcess } = spawnTransport(launcher, ["demo-agent", "--pace", pace], {
    onStderr: (text) => process.stderr.write(text),
  });
  output.heading(
    `client: this process, pid ${process.pid}; agent: pid ${agentProcess.pid}; between them: stdio`,
  );
  const agent = connect(transport, workspace, output);
  let readerHasGone = false;
  // whoever reads us may stop early, such as head: the rest is not wanted, and nothing is left behind
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    readerHasGone = true;
    // it never rejects, and ends the conversation below
    void agent.close();
  });
  try {
    await converse(agent, transport, workspace, output);
  } catch (error) {
    if (readerHasGone) return 128 + 13;
    if (!(error instanceof ConnectionError)) throw error;
    process.stderr.write(`parley: the agent went away: ${error.message}\n${error.stderr ?? ""}`);
    return 1;
  } finally {
    await agent.close();
  }
  const { exitCode } = await agentProcess.exited;
  if (readerHasGone) return 128 + 13;
  output.end(exitCode);
  return exitCode === 0 ? 0 : 1;
}

function connect(transport: Parameters<typeof clientPeer>[0], workspace: string, output: Output): ClientPeer {
  let cancelled = false;
  const agent: ClientPeer = clientPeer(transport, {
    tap: (direction, text) => output.message(direction === "out" ? "client" : "agent", text),
    requests: {
      // the demo's workspace is a throw-away folder with two known files
      "fs/read_text_file": async ({ path }) => ({
        content: await readFile(inWorkspace(workspace, path), "utf8"),
      }),
      "fs/write_text_file": async ({ path, content }) => writeFile(inWorkspace(workspace, path), content),
      "session/request_permission": ({ options }) => {
        const yes = options.find((option) => option.kind === "allow_once");
        if (yes === undefined) return { outcome: { outcome: "cancelled" } };
        return { outcome: { outcome: "selected", optionId: yes.optionId } };
      },
    },
    notifications: {
      "session/update": ({ sessionId, update }) => {
        const waits =
          update.sessionUpdate === "agent_thought_chunk" && JSON.stringify(update).includes("wait");
        if (!waits || cancelled) return;
        cancelled = true;
        // one small message: there is nothing to wait for when the agent is slow to read it
        void agent.notify("session/cancel", { sessionId });
      },
    },
  });
  return agent;
}

function inWorkspace(workspace: string, path: string): string {
  const known = ["notes.txt", "summary.txt"].map((name) => join(workspace, name));
  if (known.includes(path)) return path;
  throw new RequestError(-32002, `no such file in the demo: ${path}`, { reason: "not_found" });
}

async function converse(
  agent: ClientPeer,
  transport: Parameters<typeof clientPeer>[0],
  workspace: string,
  output: Output,
): Promise<void> {
  output.heading("the handshake, and a session");
  await agent.request("initialize", {
    protocolVersion: 1,
    clientInfo: { name: "parley-demo", version: "0.1.0" },
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
  });
  const { sessionId } = await agent.request("session/new", { cwd: workspace, mcpServers: [] });

  output.heading("a turn: plan, thought, tool call, file, permission, answer");
  const text = "Summarise my notes";
  await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

  output.heading("a turn that is cancelled");
  await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Please wait" }] });

  output.heading("bad input: each gets its error, and the connection stays usable");
  const garbage = "this line is not JSON";
  output.message("client", garbage);
  transport.send({}, garbage);
  await agent.requestExtension("_parley.demo/unknown", { hello: true }).catch(expectRequestError);
  await agent.request("session/new", { cwd: workspace, mcpServers: [] });
}

function expectRequestError(error: unknown): void {
  if (!(error instanceof RequestError)) throw error;
}

function proseOutput(): Output {
  const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  const printer = new WirePrinter({ columns: process.stdout.columns ?? 120, colour });
  const clock = startClock();
  let messages = 0;
  const print = (line: string) => process.stdout.write(`${line}\n`);
  return {
    heading: (text) => void print(`\n# ${text}`),
    message(from, text) {
      messages++;
      print(printer.line({ from, text, ms: clock() }));
    },
    end(exitCode) {
      print(
        `\n${messages} messages crossed; the agent's stdin was closed and it left with exit code ${exitCode}.`,
      );
      print(
        "Slower: parley demo --pace 300. For scripts: parley demo --json. Your own peers: see README.md.",
      );
    },
  };
}

function jsonOutput(): Output {
  const clock = startClock();
  let messages = 0;
  const print = (fields: object) => void process.stdout.write(`${JSON.stringify({ v: 1, ...fields })}\n`);
  return {
    heading: () => undefined,
    message(from, text) {
      messages++;
      print({ type: "message", from, ms: Number(clock().toFixed(1)), text });
    },
    end: (exitCode) => print({ type: "end", messages, exitCode }),
  };
}

function startClock(): () => number {
  const started = performance.now();
  return () => performance.now() - started;
}
