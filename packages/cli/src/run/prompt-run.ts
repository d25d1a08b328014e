// Runs one prompt, from the start of the agent to its end.

import type { Entry, PromptResult } from "@parley/acp";
import { optional } from "@parley/acp/internal";
import type { McpServer } from "@parley/acp/model";
import { type AcceptedContent, promptContent } from "@parley/client";
import {
  agentEnvironment,
  type ManagedConnection,
  type ManagedPrompt,
  type ManagedSession,
  type PermissionAsker,
} from "@parley/client/internal";
import { deferredGate } from "../permissions/deferred-gate.ts";
import type { OpenedGate } from "../permissions/open-gate.ts";
import { configuredRules } from "../permissions/policy-rules.ts";
import type { RedactingPrinter, RunSecrets } from "../printers/run-printer.ts";
import { ownVersion } from "../settings/installation.ts";
import { isOwnAgent } from "../settings/named-agent.ts";
import { painter } from "../terminal/paint.ts";
import type { TrustedSettings } from "../trust/workspace-trust.ts";
import { EntryForwarder } from "./entry-forwarder.ts";
import { droppedUpdates, eventReporter, UnreadOutput } from "./event-reporter.ts";
import type { Interrupts } from "./interrupts.ts";
import { type PromptText, readPrompt } from "./prompt-source.ts";
import type { RunError, RunFacts } from "./run-ending.ts";
import type { RunOptions } from "./run-options.ts";
import { RunHistory, type RunRecorder } from "./run-recorder.ts";
import { agentSandbox, type RunTarget, resolveSession, runTarget } from "./run-target.ts";
import {
  describeAgent,
  failureFrom,
  isRemote,
  sessionMcpServers,
  startAgent,
  takeSession,
} from "./start-session.ts";
import type { TerminalAsker } from "./terminal-asker.ts";

/** How long an agent may take to end a cancelled turn before it is killed. */
const stopMs = 3_000;

/** How long our own agent may take to leave. */
const ownAgentMs = 5_000;

export class PromptRun {
  readonly #options: RunOptions;
  readonly #printer: RedactingPrinter;
  readonly #interrupts: Interrupts;
  readonly #secrets: RunSecrets;
  /** Aborts when the run must end, for any reason. */
  readonly #stopping = new AbortController();
  readonly #entries = new EntryForwarder((entry) => this.#printer.entry(entry));
  readonly #unread = new UnreadOutput();
  #gate: OpenedGate | undefined;
  #history: RunHistory | undefined;
  #recorder: RunRecorder | undefined;
  #target: RunTarget | undefined;
  #running: ManagedConnection | undefined;
  #prompt: ManagedPrompt | undefined;
  /** What the user said beside a no, for an agent that has not heard it. */
  #unsaid: string[] = [];
  #workspaceRules: TrustedSettings["rules"] = [];
  #isAtTerminal = false;
  #isModeAsking = false;
  /** A remote agent cannot be reached at the moment. */
  #isCut = false;
  #outcome: PromptResult | undefined;
  #timedOutMs: number | undefined;

  constructor(options: RunOptions, printer: RedactingPrinter, interrupts: Interrupts, secrets: RunSecrets) {
    this.#secrets = secrets;
    this.#options = options;
    this.#printer = printer;
    this.#interrupts = interrupts;
  }

  async run(): Promise<RunFacts> {
    const { timeoutMs } = this.#options;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#timeOut(timeoutMs), timeoutMs);
    const stop = () => this.#stop();
    // the signal kills its process
    const kill = () => this.#end();
    this.#interrupts.first.addEventListener("abort", stop);
    this.#interrupts.second.addEventListener("abort", kill);
    let failure: RunError | undefined;
    try {
      if (this.#interrupts.first.aborted) stop();
      await this.#work();
    } catch (error) {
      failure = failureFrom(error, this.#target);
    } finally {
      clearTimeout(timer);
      this.#stopping.abort();
      this.#entries.stop();
      await this.#running?.close();
      this.#entries.end();
      await this.#recorder?.close();
      await this.#deleteUnused();
      await this.#history?.close();
      this.#gate?.close();
    }
    for (const line of this.#unread.lines) this.#printer.notice(line);
    return {
      wasInterrupted: this.#interrupts.first.aborted,
      timedOutMs: this.#timedOutMs,
      refusals: this.#gate?.gate.refusals ?? [],
      refused: this.#gate?.gate.refused ?? 0,
      violations: this.#gate?.gate.violations ?? [],
      isModeAsking: this.#isModeAsking,
      // a remote agent has none to show
      showsStderr: this.#options.showsStderr || (this.#target !== undefined && isRemote(this.#target)),
      outcome: this.#outcome,
      failure,
    };
  }

  async #work(): Promise<void> {
    const notice = (text: string) => this.#printer.notice(text);
    const reading = readPrompt(this.#options.prompt, notice, this.#stopping.signal);
    // awaited below; the agent may fail first
    reading.catch(() => undefined);
    if (this.#options.keepsHistory) this.#history = new RunHistory(notice, this.#secrets);
    const chosen = await runTarget(this.#options, this.#history);
    this.#target = chosen;
    if (chosen.known !== undefined) await this.#history?.claim(chosen.known);
    this.#recorder = this.#history?.recorder(() => this.#target ?? chosen, this.#options.session);
    const [input, running] = await Promise.all([reading, this.#start(chosen)]);
    const target = await resolveSession(chosen, running, this.#options, { history: this.#history, notice });
    this.#target = target;
    const content = await this.#content(input, target, running.capabilities);
    const session = await this.#session(running, target);
    this.#stopping.signal.throwIfAborted();
    this.#isModeAsking = isOwn(running) && modeOf(session) === "ask";
    await this.#answer(running, session.prompt(content));
    // our own agent reads the words in the answer
    while (!isOwn(running) && this.#unsaid.length > 0 && !this.#stopping.signal.aborted) {
      const text = this.#unsaid.splice(0).join("\n");
      await this.#answer(running, session.prompt([{ type: "text", text }]));
    }
    await this.#finish(running);
  }

  /** Deletes a session that was created for this run if no prompt was sent. */
  async #deleteUnused(): Promise<void> {
    if (this.#prompt !== undefined || this.#target?.known !== undefined) return;
    const id = await this.#recorder?.id();
    if (id !== undefined) await this.#history?.delete(id);
  }

  async #start(target: RunTarget): Promise<ManagedConnection> {
    const { policy, allow, ask, deny, showsStderr, format, env } = this.#options;
    // an invalid rule is reported before anything starts
    const rules = configuredRules({ policy, allow, ask, deny });
    const asker = await this.#asker(target);
    const version = ownVersion();
    const report = eventReporter(this.#printer, {
      isVerbose: showsStderr,
      timeoutMs: this.#options.timeoutMs,
    });
    const underWay = Promise.withResolvers<void>();
    // loads what is needed later while the agent's process starts
    const opening = underWay.promise
      .then(() => this.#secrets())
      .then((secrets) => this.#openGate(target, asker, secrets));
    opening.catch(() => undefined);
    const running = await startAgent(
      target,
      { isStderrShown: showsStderr && format !== "json", tokenHint: this.#options.tokenHint },
      {
        name: "parley",
        version,
        cwd: target.cwd,
        gate: deferredGate(opening, () => this.#gate),
        ...optional({ asker, elicit: asker?.elicit, recorder: this.#recorder }),
        cancelTimeoutMs: stopMs,
        env: { ...target.credentials, ...env },
        ...optional({ sandbox: agentSandbox(target, this.#options, rules) }),
        signal: this.#stopping.signal,
        kill: this.#interrupts.second,
        onEvent: (event) => {
          if (event.kind === "starting" || event.kind === "connecting")
            setImmediate(() => this.#prepare(underWay));
          if (event.kind === "cut") this.#isCut = true;
          if (event.kind === "back") this.#isCut = false;
          if (event.kind === "unread") this.#unread.add(event);
          else report(event);
        },
      },
    );
    this.#running = running;
    // stopped meanwhile
    if (this.#stopping.signal.aborted) void running.close();
    await opening;
    return running;
  }

  #prepare(underWay: PromiseWithResolvers<void>): void {
    underWay.resolve();
    // writes report why it cannot be opened
    this.#history?.open().catch(() => undefined);
  }

  /** Questions need a terminal for both input and output. */
  async #asker({ entry, cwd }: RunTarget): Promise<TerminalAsker | undefined> {
    // process.stdin takes 5 ms to make
    if (this.#options.format === "json" || !process.stderr.isTTY || !process.stdin.isTTY) return undefined;
    this.#isAtTerminal = true;
    const { terminalAsker } = await import("./terminal-asker.ts");
    return terminalAsker({ agent: entry.name, cwd }, painter(true), this.#printer);
  }

  async #openGate(
    { entry }: RunTarget,
    asker: PermissionAsker | undefined,
    secrets: readonly string[],
  ): Promise<OpenedGate> {
    const { openGate } = await import("../permissions/open-gate.ts");
    const { policy, allow, ask, deny, extraRoots } = this.#options;
    const reviewer = this.#options.reviewer ?? this.#target?.reviewer;
    const warn = (text: string) => this.#printer.notice(text);
    this.#gate = openGate({
      secrets,
      policy,
      allow,
      ask,
      deny,
      extraRoots,
      agent: entry.name,
      warn,
      // read when the session starts, so that the agent cannot change them
      workspaceRules: () => this.#workspaceRules,
      ...optional({
        asker,
        reviewer,
        sandbox: this.#options.sandbox ?? this.#target?.sandbox,
        // commands of the agent get the same environment as the agent
        env: entry.transport === "stdio" ? agentEnvironment(entry, process.env) : undefined,
      }),
    });
    this.#gate.gate.onDecision(({ summary, effect, by, reason, said, subjects }) => {
      this.#printer.decision({ what: summary, effect, by, reason });
      // what an agent has us do is refused with the words; a question of its own has no place for them
      if (said !== undefined && subjects[0]?.origin === "claim")
        this.#unsaid.push(`About "${summary}", which I did not allow: ${said}`);
    });
    return this.#gate;
  }

  /** An agent without support for them may still request their files. */
  #directories({ capabilities, spec }: ManagedConnection): readonly string[] {
    const { extraRoots } = this.#options;
    if (extraRoots.length === 0 || capabilities.additionalDirectories) return extraRoots;
    this.#printer.notice(
      `${spec.name} does not support additional directories; it can still request their files`,
    );
    return [];
  }

  async #session(running: ManagedConnection, target: RunTarget): Promise<ManagedSession> {
    const { mode, model, set, session: name } = this.#options;
    const notice = (text: string) => this.#printer.notice(text);
    const { mcpServers: typed } = this.#options;
    const brought = await this.#broughtServers(target, notice);
    const configured = [...target.mcpServers, ...brought];
    const mcpServers = sessionMcpServers(typed, configured, running.capabilities, notice);
    const { setup: given = {} } = target.entry;
    const options = { ...given.options, ...Object.fromEntries(set) };
    const setup = { ...given, ...(mode && { mode }), ...(model && { model }), options };
    const sessionOptions = {
      cwd: target.cwd,
      additionalDirectories: this.#directories(running),
      mcpServers,
      setup,
      onEntry: (entry: Entry) => this.#entries.entry(entry),
    };
    const flags = [
      ...(mode ? ["mode"] : []),
      ...(model ? ["model"] : []),
      ...set.map(([key]) => `option ${key}`),
    ];
    const { takesOver } = this.#options;
    const how = { flags, notice, takesOver };
    const { session, isResumed } = await takeSession(running, target, sessionOptions, how);
    if (name !== undefined && target.known === undefined) {
      await this.#recorder?.ready();
      this.#history?.checkNew(name);
    }
    this.#printer.started({
      ...describeAgent(running, target.entry.name),
      sessionId: session.sessionId,
      session: await this.#recorder?.id(),
      name: target.known?.name ?? (target.listed === undefined ? name : undefined),
      resumed: isResumed,
      cwd: target.cwd,
    });
    if (target.note !== undefined) notice(target.note);
    this.#entries.open(running);
    return session;
  }

  /** Takes the settings of the workspace into use, if the user trusts it. Returns its MCP servers. */
  async #broughtServers(
    { cwd, mcpServers }: RunTarget,
    notice: (text: string) => void,
  ): Promise<readonly McpServer[]> {
    const { askedSettings } = await import("../trust/workspace-trust.ts");
    const settings = await askedSettings(
      cwd,
      this.#isAtTerminal ? (lines) => this.#askTrust(lines) : undefined,
    );
    this.#stopping.signal.throwIfAborted();
    this.#workspaceRules = settings.rules;
    for (const each of settings.notices) notice(each);
    if (settings.mcpServers.length === 0) return [];
    const { usableServers } = await import("../trust/workspace-servers.ts");
    return usableServers(settings.mcpServers, [...this.#options.mcpServers, ...mcpServers], notice);
  }

  async #askTrust(lines: readonly string[]): Promise<boolean> {
    const { streamRedactor } = await import("@parley/acp/redact");
    const { askedTrust } = await import("../trust/trust.ts");
    const shown = streamRedactor(await this.#secrets()).value(lines);
    this.#printer.pause();
    return askedTrust(shown, this.#stopping.signal).finally(() => this.#printer.resume());
  }

  async #content({ text, piped }: PromptText, { cwd }: RunTarget, accepts: AcceptedContent) {
    const { content, notes } = await promptContent(
      { text, attached: [piped], files: this.#options.images },
      { cwd: this.#options.isCwdGiven ? cwd : process.cwd(), accepts },
    );
    for (const note of notes) this.#printer.notice(note);
    return content;
  }

  async #answer(running: ManagedConnection, prompt: ManagedPrompt): Promise<void> {
    this.#prompt = prompt;
    this.#outcome = undefined;
    this.#printer.progress("waiting for the agent");
    this.#entries.late.begin();
    this.#outcome = await prompt.result;
    // version 2 reports the end of a turn after its updates, as our own agent does in both
    if (running.edition !== "v2" && !isOwn(running)) {
      const { lateMs } = running.spec.quirks ?? {};
      await this.#entries.late.settled({ lateMs, signal: this.#stopping.signal });
    }
  }

  async #finish(running: ManagedConnection): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    // the next run may want the session, which our own agent holds until it has left
    await running.finish(isOwn(running) ? ownAgentMs : undefined);
    const dropped = droppedUpdates(running.counters);
    if (dropped !== undefined) this.#printer.notice(dropped);
    else if (this.#outcome?.stopReason === "end_turn" && !this.#entries.late.hasOutput)
      this.#printer.notice("the agent ended its turn without output");
  }

  #timeOut(ms: number): void {
    this.#timedOutMs = ms;
    this.#stop();
  }

  /** Asks the agent to stop. */
  #stop(): void {
    this.#printer.progress("stopping (press Ctrl-C again to kill the agent)");
    this.#stopping.abort();
    this.#entries.stop();
    // its response must be read even if our output is blocked
    this.#running?.resume();
    if (this.#isCut) {
      this.#printer.notice("the server cannot be told to stop: the agent may go on there without us");
      return this.#end();
    }
    // the managed agent kills one that does not stop
    if (this.#prompt === undefined || this.#outcome !== undefined) this.#end();
    else this.#prompt.cancel();
  }

  #end(): void {
    // awaited at the end of the run
    void this.#running?.close();
  }
}

function modeOf({ configOptions }: ManagedSession): unknown {
  return configOptions.find(({ category }) => category === "mode")?.currentValue;
}

function isOwn({ spec }: ManagedConnection): boolean {
  return spec.transport === "stdio" && isOwnAgent(spec);
}
