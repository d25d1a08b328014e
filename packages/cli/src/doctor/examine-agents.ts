// The agents that are installed, each started once: how long the handshake takes, and whether somebody is logged in.

import { findProgram, LaunchError } from "@parley/client";
import type { ConfiguredAgent } from "@parley/client/config";
import { probeAgent } from "../agents/probe-agent.ts";
import { safeLine } from "../terminal/sanitise.ts";
import type { Finding } from "./finding.ts";

const slowMs = 10_000;

/** Those of the config and our own have to be there; of the others only the installed ones are started. */
export async function examineAgents(
  agents: Iterable<ConfiguredAgent>,
  only: string | undefined,
  timeoutMs: number,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const absent: string[] = [];
  // one after the other: starting all at once would say more about this machine than about them
  for (const { entry } of agents) {
    if (only !== undefined && entry.name !== only) continue;
    const isExpected = only !== undefined || entry.origin !== "ready" || entry.name === "parley";
    const isThere =
      entry.transport !== "stdio" || "path" in findProgram(entry.command, process.env, process.cwd());
    if (isThere || isExpected) findings.push(await examined({ entry, setup: {} }, timeoutMs));
    else absent.push(entry.name);
  }
  if (absent.length === 0) return findings;
  const detail = `not installed: ${absent.join(", ")}`;
  return [
    ...findings,
    { what: "other agents", state: "missing", detail, todo: "parley agents list says how" },
  ];
}

async function examined({ entry }: ConfiguredAgent, timeoutMs: number): Promise<Finding> {
  const what = `agent ${entry.name}`;
  try {
    const facts = await probeAgent(entry, { handshakeTimeoutMs: timeoutMs, sessionTimeoutMs: timeoutMs });
    const { title, version = "", protocol, handshakeMs, session, keys } = facts;
    const known = `${title} ${version}`.trim();
    const given = keys.length === 0 ? "" : `, was given ${keys.join(", ")}`;
    const detail = safeLine(`${known}, protocol ${protocol}, handshake ${handshakeMs} ms${given}`);
    if (session === "login_needed") {
      return {
        what,
        state: "broken",
        detail: `${detail}, not logged in`,
        todo: `parley agents login ${entry.name}`,
      };
    }
    if (session !== "ok") {
      const words = safeLine(`${detail}, opens no session: ${session.error}`);
      return { what, state: "broken", detail: words, todo: `parley agents check ${entry.name}` };
    }
    if (handshakeMs < slowMs) return { what, state: "ok", detail: `${detail}, opens sessions` };
    return {
      what,
      state: "warning",
      detail,
      todo: "it is slow to start; look at what it loads, or at the network",
    };
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    const said = error.stderr?.trim().split("\n").at(-1) ?? "";
    const detail = safeLine(said === "" ? error.message : `${error.message}: ${said}`);
    return { what, state: "broken", detail, todo: error.hint };
  }
}
