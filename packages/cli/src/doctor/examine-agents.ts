// Starts each installed agent to check its handshake and login.

import { type AgentEntry, findProgram, LaunchError } from "@parley/client";
import type { ConfiguredAgent } from "@parley/client/config";
import { probeAgent } from "../agents/probe-agent.ts";
import { safeLine } from "../terminal/sanitise.ts";
import type { Finding } from "./finding.ts";

const slowMs = 10_000;

/** Agents of the config file and our own must be installed; of the others only installed ones are checked. */
export async function examineAgents(
  agents: Iterable<ConfiguredAgent>,
  only: string | undefined,
  timeoutMs: number,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const absent: string[] = [];
  // one after the other, so that the times are comparable
  for (const { entry } of agents) {
    if (only !== undefined && entry.name !== only) continue;
    const isExpected = only !== undefined || entry.origin !== "ready" || entry.name === "parley";
    const isThere =
      entry.transport !== "stdio" || "path" in findProgram(entry.command, process.env, process.cwd());
    if (isThere || isExpected) findings.push(await examineAgent(entry, timeoutMs));
    else absent.push(entry.name);
  }
  if (absent.length === 0) return findings;
  const detail = `not installed: ${absent.join(", ")}`;
  return [
    ...findings,
    { what: "other agents", state: "missing", detail, todo: "parley agents list shows how to install them" },
  ];
}

async function examineAgent(entry: AgentEntry, timeoutMs: number): Promise<Finding> {
  const what = `agent ${entry.name}`;
  try {
    const facts = await probeAgent(entry, { handshakeTimeoutMs: timeoutMs, sessionTimeoutMs: timeoutMs });
    const { title, version = "", protocol, handshakeMs, session, keys } = facts;
    const known = `${title} ${version}`.trim();
    const given = keys.length === 0 ? "" : `, gets ${keys.join(", ")}`;
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
      const failure = safeLine(`${detail}, opens no session: ${session.error}`);
      return { what, state: "broken", detail: failure, todo: `parley agents check ${entry.name}` };
    }
    if (handshakeMs < slowMs) return { what, state: "ok", detail: `${detail}, opens sessions` };
    return {
      what,
      state: "warning",
      detail,
      todo: "slow start: check what it loads, and the network",
    };
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    const lastLine = error.stderr?.trim().split("\n").at(-1) ?? "";
    const detail = safeLine(lastLine === "" ? error.message : `${error.message}: ${lastLine}`);
    return { what, state: "broken", detail, todo: error.hint };
  }
}
