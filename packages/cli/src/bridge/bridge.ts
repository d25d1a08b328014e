// `parley bridge --as v1 -- COMMAND`: connects an editor and an agent of different editions of the protocol.

import { stdioChannel } from "@parley/acp/internal/node";
import type { ExitStatus } from "@parley/acp/model";
import { nodePlatform, spawnTransport } from "@parley/acp/node";
import { type ClientToolServices, relay } from "@parley/acp/relay";
import { type ByteChannel, byteTransport } from "@parley/acp/transport";
import { editionNamed, type NamedEdition } from "@parley/dialects";
import { type CommandError, type Invocation, usageError } from "../command/command.ts";
import { shellLine } from "../command/shell-words.ts";
import { editionNames, editionOption } from "../settings/edition-choice.ts";
import { shownWords } from "../settings/known-secrets.ts";
import { type BridgeLog, openBridgeLog } from "./bridge-log.ts";
import { readWorkspaceText } from "./workspace-text.ts";

const signals = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

export async function run({ values, positionals }: Invocation): Promise<number> {
  const { strict, log: logTo } = values;
  const [command, ...args] = positionals;
  const as = editionOption(values, "as");
  const agentEdition = editionOption(values);
  if (as === undefined)
    throw misuse(
      `--as: expected the edition that the editor speaks: ${editionNames.join(", ")}; got nothing`,
    );
  if (command === undefined) throw misuse("expected an agent: parley bridge --as v1 -- COMMAND [ARGUMENTS]");
  let log: BridgeLog;
  try {
    log = openBridgeLog(logTo === undefined ? undefined : String(logTo));
  } catch (error) {
    throw misuse(`--log: cannot write there: ${(error as Error).message}`);
  }
  return serve({ as, agentEdition, isStrict: strict === true, command, args, log });
}

interface Bridge {
  readonly as: NamedEdition;
  /** What the agent speaks; undefined: version 1 or 2, as it answers. */
  readonly agentEdition: NamedEdition | undefined;
  readonly isStrict: boolean;
  readonly command: string;
  readonly args: readonly string[];
  readonly log: BridgeLog;
}

async function serve({ as, agentEdition, isStrict, command, args, log }: Bridge): Promise<number> {
  let isEditorGone = false;
  const editor = watched(stdioChannel({ exitOnEnd: false }), () => {
    isEditorGone = true;
  });
  const agent = spawnTransport(command, args, { onStderr: (text) => void process.stderr.write(text) });
  log.log("info", `the agent is ${shellLine(shownWords([command, ...args]))}`, { pid: agent.pid });
  const between = relay(byteTransport(editor, { platform: nodePlatform }), agent, {
    as: editionNamed(as),
    agentEdition: agentEdition && editionNamed(agentEdition),
    losses: isStrict ? "strict" : "lossy",
    log: log.log,
    readText: readWorkspaceText,
    clientTools: async (services: ClientToolServices) => {
      const { offerClientTools } = await import("./client-tools.ts");
      return offerClientTools(services);
    },
  });
  between.editions.then(
    ({ client, agent: other }) => log.log("info", `the editor speaks ${client}, the agent ${other}`, {}),
    // `closed` has the reason
    () => undefined,
  );
  let signal: keyof typeof signals | undefined;
  const stop = (got: NodeJS.Signals): void => {
    signal = got as keyof typeof signals; // as: only these have a listener
    // `closed` resolves then
    void between.close();
  };
  for (const name of Object.keys(signals)) process.on(name, stop);
  const reason = await between.closed;
  for (const name of Object.keys(signals)) process.off(name, stop);
  log.log("info", `ended: ${reason}`, {});
  const exit = await agent.exited;
  await log.close();
  if (signal !== undefined) return 128 + signals[signal];
  if (agent.pid === undefined) {
    // in a shell without input the editor side ends first
    const message = isEditorGone
      ? `cannot start ${JSON.stringify(command)}: command not found or not executable; check the name, or give the full path`
      : reason;
    process.stderr.write(`parley: ${message}\n`);
  } else if (isEditorGone) return 0;
  return exitCodeOf(exit);
}

/** As shells do: 128 plus the signal, 127 if it did not start. */
function exitCodeOf({ exitCode, signal }: ExitStatus): number {
  if (exitCode !== undefined) return exitCode;
  if (signal === undefined) return 127;
  const { constants } = process.getBuiltinModule("node:os");
  return 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}

/** Calls `ended` when the other side closes the channel. */
function watched(channel: ByteChannel, ended: () => void): ByteChannel {
  let isOurs = false;
  return {
    open: (receiver) =>
      channel.open({
        bytes: (chunk) => receiver.bytes(chunk),
        drained: () => receiver.drained(),
        ended: (reason) => {
          if (!isOurs) ended();
          receiver.ended(reason);
        },
      }),
    write: (text) => channel.write(text),
    queuedBytes: () => channel.queuedBytes(),
    pause: () => channel.pause(),
    resume: () => channel.resume(),
    close: (reason) => {
      isOurs = true;
      return channel.close(reason);
    },
  };
}

function misuse(message: string): CommandError {
  return usageError(message, "see parley help bridge");
}
