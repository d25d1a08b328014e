// How long a user who cancels waits for `cancelled`, in each state that a turn can be in, and what is left running then.

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { atMost, type Benchmark, compare } from "../benchmark.ts";
import type { RunOptions } from "../rounds.ts";
import { launcher, RawAgent, type RawMessage } from "./raw-agent.ts";
import { inWorkplace, type Workplace } from "./workplace.ts";

const server = `
import { createInterface } from "node:readline";
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    write({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
  if (method === "tools/list") write({ id, result: { tools: [{ name: "wait", inputSchema: { type: "object" } }] } });
  if (method === "tools/call")
    write({ method: "notifications/progress", params: { progressToken: params._meta.progressToken, progress: 1, message: "begun" } });
}).on("close", () => process.exit());
`;

interface State {
  readonly prompt: string;
  isReached(message: RawMessage, text: string): boolean;
  /** Leaves the number of its process in the file `pid`. */
  readonly hasProcess?: boolean;
}

const states: Readonly<Record<string, State>> = {
  "model streaming": { prompt: "stream", isReached: (_, text) => text.includes("word ") },
  "permission open": {
    prompt: "bash echo never",
    isReached: ({ method }) => method === "session/request_permission",
  },
  "command running": {
    prompt: "bash echo $$ > pid; echo be''gun; sleep 1000",
    isReached: (_, text) => text.includes("begun"),
    hasProcess: true,
  },
  "MCP call": { prompt: "call bench/wait", isReached: (_, text) => text.includes("begun") },
};

export const agentCancel: Benchmark = {
  name: "agent.cancel",
  about:
    "cancel to the answer cancelled, p99 of the slowest of four states; the floor is a request that does nothing",
  target: {},
  run: (options) => inWorkplace((place) => measure(options, place)),
};

async function measure({ rounds, quick, progress }: RunOptions, place: Workplace) {
  // 200 for each state with the default of eleven rounds
  const runs = quick ? 1 : Math.ceil((200 * rounds) / 11);
  const times: Record<string, number[]> = {};
  const idle: number[] = [];
  let survivors = 0;
  for (const [index, [name, state]] of Object.entries(states).entries()) {
    progress(index, Object.keys(states).length, name);
    const cancelling = await Cancelling.begin(place, state);
    times[name] = [];
    for (let run = 0; run < runs; run++) {
      times[name].push(await cancelling.once());
      idle.push(await cancelling.idle());
      if (state.hasProcess && (await isLeft(place))) survivors++;
    }
    await cancelling.end();
  }
  const worst = Object.values(times).reduce((a, b) => (percentile(a) >= percentile(b) ? a : b));
  const values = { ours: [percentile(worst)], floor: [percentile(idle)], sdk: [percentile(idle)] };
  return {
    ...compare(values, "ms", "less is better"),
    notes: [`${runs} runs in each state; the SDK has no agent: its column repeats the floor`],
    checks: [
      ...Object.entries(times).map(([name, each]) => atMost(`p99 in ms, ${name}`, percentile(each), 200)),
      atMost("processes of commands that are left", survivors, 0),
    ],
  };
}

/** One agent and one session for one state. */
class Cancelling {
  readonly #agent: RawAgent;
  readonly #state: State;
  readonly #place: Workplace;
  #sessionId = "";
  #reached = Promise.withResolvers<void>();

  private constructor(place: Workplace, state: State) {
    this.#state = state;
    this.#place = place;
    this.#agent = new RawAgent({
      command: [launcher, "agent"],
      ...place,
      onMessage: (message) => this.#seen(message),
    });
  }

  static async begin(place: Workplace, state: State): Promise<Cancelling> {
    const made = new Cancelling(place, state);
    const path = join(place.home, "server.mjs");
    writeFileSync(path, server);
    const mcpServers = [{ name: "bench", command: process.execPath, args: [path], env: [] }];
    await made.#agent.handshake();
    made.#sessionId = await made.#agent.open({ cwd: place.cwd, mcpServers });
    // everything is loaded, and the server is there
    await made.once();
    return made;
  }

  /** Milliseconds from the cancel to the answer. */
  async once(): Promise<number> {
    rmSync(join(this.#place.cwd, "pid"), { force: true });
    this.#reached = Promise.withResolvers();
    const prompt = [{ type: "text", text: this.#state.prompt }];
    const answer = this.#agent.request("session/prompt", { sessionId: this.#sessionId, prompt });
    const isOver = answer.then(() => {
      throw new Error(`the turn of ${JSON.stringify(this.#state.prompt)} has ended before it was cancelled`);
    });
    await Promise.race([this.#reached.promise, isOver]);
    isOver.catch(() => undefined);
    const started = performance.now();
    this.#agent.send({ method: "session/cancel", params: { sessionId: this.#sessionId } });
    const { stopReason } = await answer;
    const ms = performance.now() - started;
    if (stopReason !== "cancelled") throw new Error(`a cancelled prompt ended with ${String(stopReason)}`);
    return ms;
  }

  /** A request that is answered with next to nothing. */
  async idle(): Promise<number> {
    const started = performance.now();
    await this.#agent.request("session/set_mode", { sessionId: this.#sessionId, modeId: "code" });
    return performance.now() - started;
  }

  end(): Promise<void> {
    return this.#agent.close();
  }

  #seen(message: RawMessage): void {
    const { id, method } = message;
    if (this.#state.isReached(message, JSON.stringify(message.params))) return this.#reached.resolve();
    if (method === "session/request_permission")
      this.#agent.send({ id, result: { outcome: { outcome: "selected", optionId: "allow_always" } } });
  }
}

/** Whether the command of a cancelled turn still runs a second later. */
async function isLeft({ cwd }: Workplace): Promise<boolean> {
  const file = join(cwd, "pid");
  const pid = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  if (pid <= 1) return false;
  for (let look = 0; look < 50; look++) {
    try {
      process.kill(pid, 0);
    } catch {
      // there is no such process
      return false;
    }
    await pause(20);
  }
  return true;
}

function percentile(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}
