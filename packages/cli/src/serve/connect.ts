// `parley connect URL`: a remote agent as a local one, on stdin and stdout.

import { resolve } from "node:path";
import { stdioChannel } from "@parley/acp/internal/node";
import { optional } from "@parley/acp/jsonrpc";
import { nodePlatform } from "@parley/acp/node";
import { byteTransport, type EndReason, memoryPair } from "@parley/acp/transport";
import { LaunchError } from "@parley/client";
import { type AgentEntry, cutText, reachAgent } from "@parley/client/launch";
import { launchFailure } from "../agents/with-agent.ts";
import { translated } from "../bridge/translated.ts";
import { CommandError, type Invocation, usageError } from "../command/command.ts";
import { textOption } from "../command/option-values.ts";
import { editionOption } from "../settings/edition-choice.ts";
import { printSetup } from "../settings/editor-setup.ts";
import { launcher } from "../settings/installation.ts";
import { addressed } from "../settings/named-agent.ts";
import { addressEntry, isTokenRefusal, plainPostWords, tokenHint } from "../settings/remote-address.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { joined } from "./joined-sides.ts";

/** How long what was sent may take to leave, when stdin has ended. */
const leaveMs = 5_000;
const unavailable = -32067;
const help = "see parley help connect";

export async function run({ values, words }: Invocation): Promise<number> {
  const [url, ...more] = words;
  if (url === undefined || more.length > 0)
    throw usageError("expected one address: parley connect URL", help);
  const address = addressEntry(url, values);
  const editorName = textOption(values, "setup");
  if (editorName !== undefined) return printConnectSetup(editorName, url, values);
  const edition = editionOption(values);
  const entry = addressed({ ...address, ...optional({ edition }) });
  const say = (text: string) => void process.stderr.write(`parley connect: ${text}\n`);
  const reached: Reached = await reachAgent(entry, {
    onEvent(event) {
      if (event.kind === "cut") say(cutText(event));
      if (event.kind === "back") say("connected again");
    },
  }).catch(unreachable);
  if (address.plainPost) say(plainPostWords);
  const relayed = edition === undefined ? undefined : await translated(reached.transport, edition);
  const editor = byteTransport(stdioChannel({ exitOnEnd: false }), { platform: nodePlatform });
  const dropped = (names: readonly string[]) =>
    say(`left out MCP servers that are commands of this machine: ${names.map(safeLine).join(", ")}`);
  const ended = await joined(editor, relayed?.transport ?? reached.transport, {
    takesOver: values["takeover"] === true,
    dropCommands: values["drop-mcp-commands"] === true ? dropped : undefined,
    orphaned,
  });
  if (ended.who === "editor") {
    const late = new Promise<void>((done) => setTimeout(done, leaveMs));
    await Promise.race([reached.sent?.(), late]);
    if (ended.leaves !== undefined)
      say(
        `left a running turn, which goes on at the server: ${ended.leaves}; load the session to see the rest`,
      );
    await editor.close();
    // without a goodbye: the agent goes on, and its sessions can be loaded
    process.exit(0);
  }
  const bridged = (await relayed?.closed)?.message;
  const reason = { ...ended.reason, ...optional({ message: bridged }) };
  const failed = reached.failed ?? (await failure(entry, reason, reached.explain, tokenHint(values)));
  // an editor shows what it asked for and did not get; few show stderr
  const message = `${failed.message}; ${failed.hint}`;
  ended.refuse({ code: unavailable, message, data: { reason: "unreachable" } });
  await editor.close();
  throw failed;
}

type Reached = Pick<Awaited<ReturnType<typeof reachAgent>>, "transport" | "explain" | "sent"> & {
  /** It was not reached: the error says all. */
  readonly failed?: CommandError;
};

/** An address that cannot be used: the editor is told so by the answer to its first request, as it is when nobody answers there. */
function unreachable(error: unknown): Reached {
  // a person sees it at once
  if (!(error instanceof LaunchError) || process.stdin.isTTY) throw launchFailure(error);
  const [transport, nobody] = memoryPair();
  void nobody.close();
  return { transport, failed: new CommandError("unreachable", error.message, error.hint, 5) };
}

/** Resolves when our parent has gone. Nothing reports that to a process that has nothing to write. */
function orphaned(signal: AbortSignal): Promise<void> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    if (signal.aborted) return;
    const timer = setInterval(() => {
      if (process.ppid !== parent) resolve();
    }, 1_000);
    signal.addEventListener("abort", () => clearInterval(timer));
  });
}

/** The token itself is not printed: whoever pastes the block enters it. */
function printConnectSetup(editor: string, url: string, values: Invocation["values"]): number {
  const file = textOption(values, "token-file");
  const edition = editionOption(values);
  const { host } = new URL(url);
  const options = [
    ...(file === undefined ? [] : ["--token-file", resolve(file)]),
    ...(edition === undefined ? [] : ["--edition", edition]),
    ...["plain-post", "takeover", "drop-mcp-commands"].flatMap((name) =>
      values[name] === true ? [`--${name}`] : [],
    ),
  ];
  printSetup(
    editor,
    {
      name: `Parley at ${host}`,
      id: "parley-remote",
      command: launcher,
      args: ["connect", ...options, url],
      env: file === undefined ? { PARLEY_TOKEN: "TOKEN" } : {},
    },
    help,
  );
  if (file === undefined)
    process.stderr.write("Put the token that parley serve has printed in place of TOKEN.\n");
  return 0;
}

async function failure(
  { name }: AgentEntry,
  reason: EndReason,
  explain: Reached["explain"],
  tokenWords: string,
): Promise<CommandError> {
  const { message = "the connection has ended" } = reason;
  const explained = await explain?.(reason);
  const hint = isTokenRefusal(explained?.status)
    ? tokenWords
    : (explained?.hint ?? "start it again; the sessions of the agent can be loaded");
  return new CommandError("unreachable", `${name}: ${explained?.message ?? message}`, hint, 5);
}
