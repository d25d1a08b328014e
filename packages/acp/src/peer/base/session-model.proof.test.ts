// Random conversations between an agent and a client against a small model of a session: prompts, cancels,
// questions that are answered at once, late or never, updates in and outside turns, options from both sides,
// either side dying. What must hold, whatever happens in whatever order, is checked at the end of each.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { propertyRuns } from "../../../test/support/soak.ts";
import {
  type Agent,
  type AgentSession,
  agent,
  type ClientConnection,
  type ClientSession,
  client,
  type Entry,
  type Prompt,
  RequestError,
  type SessionConfigOption,
  type SessionUpdate,
  type Transport,
  type Turn,
} from "../../index.ts";
import type { ProtocolVersion } from "../../internal.ts";
import type { EntryBody } from "../../store.ts";
import { memoryPair } from "../../transport.ts";
import { applyEntry, createView, type SessionView, snapshot } from "../../view.ts";

/** What the agent does in a turn, one after the other. */
type Act = "say" | "think" | "plan" | "title" | "usage" | "option" | "gate" | "throw" | ToolAct | AskAct;
type ToolAct = "tool" | "failing tool" | "tool with diff";
type AskAct = "ask yes" | "ask no" | "ask late" | "ask never";

type Command =
  | { readonly do: "prompt"; readonly acts: readonly Act[] }
  | { readonly do: "cancel prompt"; readonly which: number }
  | { readonly do: "set option"; readonly value: string }
  | { readonly do: "wait"; readonly ticks: number }
  | {
      readonly do: "cancel" | "open gate" | "answer" | "update outside" | "late word" | "settle";
    }
  | { readonly do: "agent dies" | "client dies" };

interface Scenario {
  readonly version: ProtocolVersion;
  readonly inbox: boolean;
  readonly commands: readonly Command[];
}

const acts = fc.constantFrom<Act[]>(
  ...(["say", "say", "think", "plan", "title", "usage", "option", "gate", "throw"] as const),
  ...(["tool", "failing tool", "tool with diff", "ask yes", "ask no", "ask late", "ask never"] as const),
);

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("prompt"), acts: fc.array(acts, { maxLength: 5 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait"), ticks: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel prompt"), which: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("set option"), value: fc.constantFrom("a", "b", "c") }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom("cancel", "open gate", "answer", "update outside", "late word", "settle"),
    }),
  },
) as fc.Arbitrary<Command>; // the literals are widened on their way through the arbitraries

const death = fc.constantFrom<Command[]>({ do: "agent dies" }, { do: "client dies" });

const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    version: fc.constantFrom<ProtocolVersion[]>(1, 2),
    inbox: fc.boolean(),
    commands: fc.array(command, { maxLength: 20 }),
    // one conversation in four ends early
    end: fc.option(fc.tuple(death, fc.nat(20)), { freq: 4 }),
  })
  .map(({ end, commands, ...rest }) => {
    if (end === null || end[1] % 4 !== 0) return { ...rest, commands };
    return { ...rest, commands: [...commands.slice(0, end[1]), end[0], ...commands.slice(end[1])] };
  });

function option(value: string): SessionConfigOption[] {
  const options = ["a", "b", "c", "start"].map((each) => ({ value: each, name: each }));
  return [{ configId: "o", name: "O", type: "select", currentValue: value, options }];
}

function currentValue([first]: readonly SessionConfigOption[]): string {
  return first?.type === "select" ? first.currentValue : "none";
}

/** One line per thing that the agent said, in its own words; nothing for what only one of the versions has. */
function words(update: SessionUpdate): { kind: string; word: string } | undefined {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
    case "agent_thought_chunk":
      return update.content.type === "text" ? { kind: "text", word: update.content.text } : undefined;
    case "plan_update":
      return { kind: "text", word: JSON.stringify("entries" in update.plan ? update.plan.entries : []) };
    case "session_info_update":
      return { kind: "text", word: `title ${update.title}` };
    case "usage_update":
      return { kind: "text", word: `usage ${update.used}` };
    case "config_option_update":
      return {
        kind: "option",
        word: currentValue(update.configOptions),
      };
    default:
      return undefined;
  }
}

interface Sent {
  readonly number: number;
  readonly prompt: Prompt;
  readonly acts: readonly Act[];
  readonly settled: string[];
  /** Cancelled by the user before the client knew how it ended. */
  cancelled: boolean;
  /** Another prompt was being cancelled while this one was open: cancels on the wire are the session's, not a prompt's. */
  endangered: boolean;
}

/** The outcome of a prompt, or of its failure, as a word. */
function follow(prompt: Prompt, settled: string[]): void {
  prompt.result.then(
    ({ stopReason, joined }) => settled.push(joined ? `joined ${stopReason}` : stopReason),
    (error: Error) => settled.push(`failed: ${error.message}`),
  );
}

/** Everything that happens in one conversation. */
class World {
  readonly #scenario: Scenario;
  readonly #agent: Agent;
  readonly #transports: readonly [Transport, Transport] = memoryPair();
  readonly sent: Sent[] = [];
  readonly emitted = { text: [] as string[], option: [] as string[] };
  readonly seen = { text: [] as string[], option: [] as string[] };
  readonly entries: EntryBody[] = [];
  readonly requests = new Map<string, number>();
  readonly strays: string[] = [];
  readonly complaints: string[] = [];
  asked = 0;
  answered = 0;
  /** Who has died. A dead side learns nothing any more, so only the other one is looked at. */
  dead: "agent" | "client" | undefined;
  readonly #numbers = new Map<string, number>();
  readonly #ended = new Set<number | undefined>();
  #words = 0;
  #gates: (() => void)[] = [];
  #late: ((optionId: string) => void)[] = [];
  #agentSession: AgentSession | undefined;
  #lastTurn: Turn | undefined;
  #session: ClientSession | undefined;
  connected: ClientConnection | undefined;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    const log = (level: string, message: string, details?: object) => {
      if (level === "error") this.complaints.push(`${message} ${JSON.stringify(details)}`);
    };
    this.#agent = agent({
      name: "model",
      version: "1",
      editions: [`v${scenario.version}`],
      concurrentPrompts: scenario.inbox ? "inbox" : "queue",
      log,
      session: {
        open: (session, { origin }) => {
          if (origin === "new") this.#watch(session);
          session.setConfigOptions(option("start"));
        },
        // takes a moment, in which the agent may change its mind
        setConfigOption: () => Promise.resolve(),
      },
      prompt: (turn) => this.#turn(turn),
    });
  }

  get session(): ClientSession {
    assert.ok(this.#session);
    return this.#session;
  }

  async connect(transports: readonly [Transport, Transport] = this.#transports): Promise<ClientConnection> {
    this.#agent.connect(transports[0]);
    return client({
      name: "model",
      version: "1",
      editions: [`v${this.#scenario.version}`],
      requestPermission: (ask) => this.#answer(ask.title),
      connection: {
        tap:
          transports === this.#transports ? (direction, text) => this.#tap(direction, text) : () => undefined,
      },
    }).connect(transports[1]);
  }

  async open(): Promise<void> {
    this.connected = await this.connect();
    this.#session = await this.connected.newSession({ cwd: "/project" });
    this.session.onUpdate((update) => {
      const said = words(update);
      if (said !== undefined) this.seen[said.kind as "text" | "option"].push(said.word);
    });
    this.session.onEntry((entry) => this.#record(entry));
  }

  async run(command: Command): Promise<void> {
    const { session } = this;
    switch (command.do) {
      case "prompt": {
        const number = this.sent.length;
        const endangered = this.sent.some((each) => each.cancelled && each.settled.length === 0);
        const prompt = session.prompt(JSON.stringify({ number, acts: command.acts }));
        const sent: Sent = {
          prompt,
          number,
          acts: command.acts,
          settled: [],
          cancelled: false,
          endangered,
        };
        follow(prompt, sent.settled);
        this.sent.push(sent);
        return;
      }
      case "cancel":
        for (const sent of this.sent) this.#cancelled(sent);
        return session.cancel();
      case "cancel prompt": {
        const sent = this.sent[command.which];
        if (sent === undefined) return;
        this.#cancelled(sent);
        for (const other of this.sent) other.endangered ||= other.settled.length === 0;
        return sent.prompt.cancel();
      }
      case "set option":
        // a dead agent takes no options
        return void session
          .setConfigOption("o", command.value)
          .catch(() => assert.ok(this.dead !== undefined));
      case "open gate":
        return this.#gates.shift()?.();
      case "answer":
        return this.#late.shift()?.("allow_once");
      case "update outside":
        try {
          void this.#agentSession?.update({
            sessionUpdate: "agent_message_chunk",
            messageId: `outside-${this.#words}`,
            content: { type: "text", text: this.#word("text") },
          });
        } catch (error) {
          assert.match(String(error), /the session is closed/);
          assert.ok(this.dead !== undefined);
        }
        return;
      case "late word": {
        const turn = this.#lastTurn;
        if (turn === undefined) return;
        if (turn.session.turn === turn) return void turn.say(this.#word("text"));
        await assert.rejects(turn.say("late"), /the turn has ended/);
        return;
      }
      case "wait":
        for (let tick = 0; tick < command.ticks; tick += 1) await Promise.resolve();
        return;
      case "settle":
        return quiet();
      case "agent dies":
      case "client dies":
        this.dead ??= command.do === "agent dies" ? "agent" : "client";
        return this.#transports[command.do === "agent dies" ? 0 : 1].close();
    }
  }

  /** Nothing is left to wait for, or the test says what is. */
  async finish(): Promise<void> {
    await quiet();
    for (const sent of this.sent) this.#cancelled(sent);
    this.session.cancel();
    if (this.dead === "client") return quiet();
    for (let turn = 0; turn < 50 && this.sent.some(({ settled }) => settled.length === 0); turn += 1) {
      await quiet();
    }
    await quiet();
  }

  /** Notes the session's options where they are set, whoever sets them. */
  #watch(session: AgentSession): void {
    this.#agentSession = session;
    const setOptions = session.setConfigOptions.bind(session);
    session.setConfigOptions = (options) => {
      this.emitted.option.push(currentValue(options));
      setOptions(options);
    };
  }

  #record(entry: EntryBody): void {
    this.entries.push(entry);
    if (entry.kind === "prompt" && entry.prompt[0]?.type === "text") {
      this.#numbers.set(entry.messageId, (JSON.parse(entry.prompt[0].text) as { number: number }).number);
    }
    if (entry.kind === "result") this.#ended.add(this.#numbers.get(entry.messageId));
  }

  #cancelled(sent: Sent): void {
    // what has ended may not have been told yet to those who wait for its promise
    if (sent.settled.length === 0 && !this.#ended.has(sent.number)) sent.cancelled = true;
  }

  #word(kind: "text" | "option", isSaid = true): string {
    const word = `${kind}${++this.#words}`;
    if (isSaid) this.emitted[kind].push(word);
    return word;
  }

  #tap(direction: "in" | "out", text: string): void {
    const message = JSON.parse(text) as { id?: number; method?: string };
    if (message.id === undefined) return;
    if (message.method !== undefined) {
      this.requests.set(`${direction} ${message.id}`, 0);
      return;
    }
    const key = `${direction === "in" ? "out" : "in"} ${message.id}`;
    const answers = this.requests.get(key);
    if (answers === undefined) this.strays.push(text);
    else this.requests.set(key, answers + 1);
  }

  #answer(title: string): Promise<string> | string | undefined {
    if (title === "ask yes") return "allow_once";
    if (title === "ask no") return "reject_once";
    return new Promise((resolve) => {
      if (title === "ask late") this.#late.push(resolve);
    });
  }

  async #turn(turn: Turn): Promise<void> {
    this.#lastTurn = turn;
    const messages = [turn.text];
    for (let text = messages.shift(); text !== undefined; text = messages.shift()) {
      for (const act of (JSON.parse(text) as { acts: Act[] }).acts) {
        await this.#act(turn, act);
        // a steered agent takes what has come, and does it afterwards
        const taken = turn.inbox.take()?.prompt[0];
        if (taken?.type === "text") messages.push(taken.text);
        if (turn.signal.aborted) return;
      }
    }
  }

  async #act(turn: Turn, act: Act): Promise<void> {
    switch (act) {
      case "say":
        return turn.say(this.#word("text"));
      case "think":
        return turn.think(this.#word("text"));
      case "plan": {
        const entries = [{ content: this.#word("text", false), priority: "low", status: "pending" } as const];
        this.emitted.text.push(JSON.stringify(entries));
        return turn.plan(entries);
      }
      case "title": {
        const title = this.#word("text", false);
        this.emitted.text.push(`title ${title}`);
        return turn.session.setTitle(title);
      }
      case "usage":
        this.emitted.text.push(`usage ${++this.#words}`);
        return turn.usage({ used: this.#words, size: 1_000_000 });
      case "option": {
        return turn.session.setConfigOptions(option("abc"[this.#words++ % 3] ?? "a"));
      }
      case "gate":
        return new Promise((resolve) => {
          this.#gates.push(resolve);
          turn.signal.addEventListener("abort", () => resolve());
          if (turn.signal.aborted) resolve();
        });
      case "throw":
        throw new RequestError("other", "the turn failed", { code: 4242 });
      case "tool":
        return turn.tool({ title: "tool" }, (tool) => tool.add("done"));
      case "tool with diff":
        return turn.tool({ title: "diff" }, (tool) =>
          tool.diff({ path: "/project/a.txt", oldText: "old\n", newText: "new\n" }),
        );
      case "failing tool":
        return turn
          .tool({ title: "fails" }, () => {
            throw new Error("no luck");
          })
          .catch(() => undefined);
      default: {
        this.asked += 1;
        const allowed = await turn.requestPermission(act);
        this.answered += 1;
        if (allowed !== undefined && (act === "ask no" || act === "ask never"))
          assert.fail(`${act} was allowed`);
      }
    }
  }
}

/** Every microtask that is due has run, and with it everything that memory carries. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function viewOf(entries: readonly EntryBody[]): SessionView {
  const view = createView();
  entries.forEach((body, at) => {
    // as: an entry is its body with a place and a time
    applyEntry(view, { format: 1, seq: at + 1, time: 0, ...body } as Entry);
  });
  return view;
}

/** What history keeps: neither questions, outcomes and states, nor places in the sequence. Ids are the agent's own. */
function shown(view: SessionView, isOrdered: boolean): object {
  const { timeline, plans, files, configOptions, title, usage } = snapshot(view) as {
    timeline: readonly Record<string, unknown>[];
  } & Record<string, unknown>;
  // version 1 dresses a question without a tool call up as one
  const isQuestion = ({ kind, toolCallId }: Record<string, unknown>) =>
    kind === "permission" || String(toolCallId).startsWith("ask-");
  const kept = timeline.filter((item) => !isQuestion(item));
  // what is said while a message is on its way, or is being stored, crosses it: each side has its own order then
  const isUser = ({ kind }: Record<string, unknown>) => kind === "user_message";
  const ordered = isOrdered ? kept : [...kept.filter(isUser), ...kept.filter((item) => !isUser(item))];
  const items = ordered.map((item) => strip(item));
  const plain = (list: unknown) => (list as Record<string, unknown>[]).map((item) => strip(item));
  return { items, plans: plain(plans), files: plain(files), configOptions, title, usage };
}

function strip(item: Record<string, unknown>): object {
  const { seq, version, time, key, echoed, result, endedAt, messageId, _meta, ...rest } = item;
  return rest;
}

async function check(given: Scenario): Promise<void> {
  const world = new World(given);
  await world.open();
  for (const command of given.commands) await world.run(command);
  await world.finish();

  // every prompt has exactly one end, and it is the right one
  for (const { settled, cancelled, endangered, acts } of world.dead === "client" ? [] : world.sent) {
    assert.equal(settled.length, 1, `a prompt has ${settled.length} ends`);
    const end = String(settled[0]).replace("joined ", "");
    if (cancelled) assert.notEqual(end, "end_turn", "a cancelled prompt ended as if it had not been");
    if (world.dead !== undefined || acts.includes("throw") || given.inbox) continue;
    if (endangered && end === "cancelled") continue;
    assert.equal(end, cancelled ? "cancelled" : "end_turn", `${JSON.stringify(acts)}`);
    if (!given.inbox) assert.ok(!String(settled[0]).startsWith("joined"), "nobody joined anything");
  }
  const ends = world.entries.flatMap((entry) => (entry.kind === "result" ? [entry.messageId] : []));
  assert.equal(new Set(ends).size, ends.length, "a prompt has two outcomes in its history");

  // nothing is lost, repeated or out of order
  const { emitted, seen } = world;
  assert.deepEqual(
    seen.text,
    world.dead === undefined ? emitted.text : emitted.text.slice(0, seen.text.length),
  );
  // answers repeat the list as it was when they were made: everything is told, and the last word is right
  if (world.dead === undefined) {
    assert.ok(
      isSubsequence(withoutRepeats(emitted.option), seen.option),
      `${emitted.option} as ${seen.option}`,
    );
    assert.equal(seen.option.at(-1), emitted.option.at(-1));
    assert.equal(currentValue(world.session.configOptions), emitted.option.at(-1));
  }

  // every request, of either side, has exactly one answer
  assert.deepEqual(world.strays, []);
  for (const [id, answers] of world.requests) {
    assert.ok(
      answers === 1 || (answers === 0 && world.dead !== undefined),
      `request ${id} has ${answers} answers`,
    );
  }
  if (world.dead !== "agent")
    assert.equal(world.answered, world.asked, "a question was left without an answer");
  assert.deepEqual(world.complaints, []);

  // history shows what was shown live
  if (world.dead === undefined) {
    const { sessionId } = world.session;
    await world.session.close();
    const again = await world.connect(memoryPair());
    const loaded = await again.loadSession(sessionId, { cwd: "/project" });
    const history: EntryBody[] = [];
    loaded.onEntry((entry) => history.push(entry));
    const isOutside = ({ do: what }: Command) => what === "update outside" || what === "late word";
    const isOrdered = !given.inbox && !given.commands.some(isOutside);
    assert.deepEqual(shown(viewOf(history), isOrdered), shown(viewOf(world.entries), isOrdered));
    await again.close();
  }
  if (world.dead !== "client") await world.connected?.close();
}

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const value of whole) if (value === part[at]) at += 1;
  return at === part.length;
}

/** A change to the same value may be told or not. */
function withoutRepeats(values: readonly string[]): string[] {
  return values.filter((value, at) => value !== values[at - 1]);
}

test("whatever happens in a session, in whatever order, the guarantees hold", {
  timeout: 120_000,
}, async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        await check(given);
        assert.deepEqual(unhandled.splice(0), []);
      }),
      propertyRuns(300, 5_000),
    );
  } finally {
    process.off("unhandledRejection", note);
  }
});
