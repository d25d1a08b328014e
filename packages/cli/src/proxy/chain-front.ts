// Puts a chain of proxies in front of an agent that a command has started.

import type { Log, Transport } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import { type ChainComponent, conductor } from "@parley/acp/proxy";
import { memoryPair, wrapSink, wrapTransport } from "@parley/acp/transport";
import type { AgentEntry } from "@parley/client/launch";
import type { Rule } from "@parley/client/policy";
import { editionNamed } from "@parley/dialects";
import type { Invocation } from "../command/command.ts";
import { readConfig } from "../settings/config-file.ts";
import { lossesIn } from "../settings/edition-choice.ts";
import type { ChainVoice, EndingVoice } from "./chain-voice.ts";
import { chosenComponents, madeComponents, sandboxRules } from "./components.ts";

export interface Front {
  (agent: Transport, entry: AgentEntry): Transport;
  /** The rules that the sandbox of an agent in this directory should keep. */
  sandboxRules(cwd: string): readonly Rule[];
}

/** What `--chain` and `--proxy` put in front of an agent; undefined where neither is given. */
export function chainFront(
  values: Invocation["values"],
  voice: ChainVoice,
  sandboxOption = "--sandbox agent",
): Front | undefined {
  if (values["chain"] === undefined && values["proxy"] === undefined) return undefined;
  const config = readConfig(() => undefined);
  const chosen = chosenComponents(values, config);
  // a wrong one is reported at once
  madeComponents(chosen, voice);
  const typed = [values["sandbox"]].flat();
  // those that the sandbox was made with
  let kept: readonly Rule[] = [];
  const front = (agent: Transport, entry: AgentEntry): Transport => {
    const isSandboxed =
      typed.includes(true) ||
      typed.includes("agent") ||
      (entry.transport === "stdio" && entry.sandbox === true);
    const known = { entry, isSandboxed, sandboxRules: kept, sandboxOption };
    return inFront(madeComponents(chosen, voice, known), agent, entry, voice);
  };
  return Object.assign(front, {
    sandboxRules(cwd: string) {
      kept = sandboxRules(chosen, cwd);
      return kept;
    },
  });
}

/** The transport of the chain. It ends when the agent has gone: whoever started the agent starts it again. */
function inFront(
  proxies: readonly ChainComponent[],
  agent: Transport,
  { name, edition }: AgentEntry,
  voice: ChainVoice,
): Transport {
  const [near, far] = memoryPair();
  let whyEnded: string | undefined;
  const chain = conductor([...proxies, { name, start: () => agent, onExit: "fail" }], {
    // whoever has the transport says why it has ended
    log: chainLog({
      ...voice,
      ended: (reason) => {
        whyEnded = reason;
      },
    }),
    ...(edition !== undefined && { editions: [editionNamed(edition)] }),
  });
  const { closed } = chain.connect(far);
  // a chain that was not complete has not taken it
  const over = closed.then(() => agent.close());
  return wrapTransport(near, {
    start: (sink) =>
      near.start(
        wrapSink(sink, { end: (reason) => sink.end({ ...reason, ...optional({ message: whyEnded }) }) }),
      ),
    // an agent that leaves by itself is read to its end, and one that does not is left: a chain does not wait for it
    ...(agent.endOutput && { endOutput: () => agent.endOutput?.() }),
    async close(reason) {
      await near.close(reason);
      await over;
    },
  });
}

/** Errors, and what was lost in a translation. */
export function chainLog({ say, ended }: EndingVoice): Log {
  let gone: string | undefined;
  return (level, message, fields) => {
    for (const lost of lossesIn(fields)) say(`${message}: ${lost}`);
    if (level !== "error") return;
    const { event, reason, error, onExit } = (fields ?? {}) as Partial<Record<string, unknown>>; // as: any object
    const why = reason ?? (error instanceof Error ? error.message : error);
    const text = why === undefined ? message : `${message}: ${String(why)}`;
    if (event === "chain_ended") {
      gone = undefined;
      ended(String(why));
    } else if (onExit === undefined) say(text);
    else {
      gone = text;
      // the end of the chain is said in the same step, with the same reason
      queueMicrotask(() => {
        if (gone !== undefined) say(gone);
        gone = undefined;
      });
    }
  };
}
