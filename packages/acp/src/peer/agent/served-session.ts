// An open session of an agent: its options and commands, and its prompts, one turn at a time.

import { withTimeout } from "../../base/abortable.ts";
import { backgroundDeadline, type Deadline } from "../../base/deadline.ts";
import { optional } from "../../base/objects.ts";
import type { Activation, ClientCapabilities } from "../../edition/agent-edition.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { LogWriter } from "../../log/log-writer.ts";
import type { AvailableCommand, Meta, SessionConfigOption, SystemPrompt } from "../../model/content.ts";
import { optionValue } from "../../model/custom-types.ts";
import { completeCommands, completeConfigOptions, completeUpdate } from "../../model/outgoing.ts";
import { lists } from "../../validation/unstable-features.ts";
import { PromptQueue } from "../base/prompt-queue.ts";
import { takenState } from "../base/taken-session.ts";
import { type SessionMcpServer, SessionServers } from "../mcp/session-servers.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { type BackgroundTools, backgroundTools } from "./background-tools.ts";
import { withLogins } from "./introduction.ts";
import { storedValues } from "./request-rules.ts";
import type { SessionSender } from "./session/session-sender.ts";
import { SessionUpdates, sentAtOnce } from "./session/session-updates.ts";
import type { ReceivedPrompt } from "./turn/received-prompt.ts";
import {
  abandonTurn,
  newTurn,
  type QueuedTurn,
  runTurn,
  stillWorking,
  turnInProgress,
  warnOfWait,
} from "./turn/run-turn.ts";
import { checkTool } from "./turn/running-tool-call.ts";
import type { RunningTurn } from "./turn/running-turn.ts";
import { ShownTerminal } from "./turn/shown-terminal.ts";
import type { AgentSession, PromptEnd, Turn } from "./turn/turn.ts";

/** How long closing a session waits for its cancelled turn, and for its store. */
const closeGraceMs = 5_000;

const defaultCancelGraceMs = 10_000;

/** What an app calls works without its session too, as after `const { setTitle } = turn.session`. */
export class ServedSession implements AgentSession {
  #data: unknown;
  /** The custom data of the answer that opened it, and of those that open it again. */
  resultMeta: Meta | undefined;
  readonly updates: SessionUpdates;
  readonly #definition: AgentDefinition;
  readonly #queue = new PromptQueue<QueuedTurn>((queued) => this.#run(queued));
  #activation: Activation;
  #turn: RunningTurn | undefined;
  /** A turn that ran when another client took the session over. */
  #inherited: RunningTurn | undefined;
  #cancelGrace: Deadline;
  /** Resolves when the turn that was abandoned has its end. */
  #abandoned: Promise<void> | undefined;
  #hasUserTitle: boolean;
  #options: readonly SessionConfigOption[] = [];
  #commands: readonly AvailableCommand[] = [];
  /** The client knows the session, so that changes must be sent. */
  #isAnnounced = false;
  readonly #background: BackgroundTools;
  readonly #servers: SessionServers;

  constructor(
    { sessionId, activation, definition, hasUserTitle }: ServedSessionSettings,
    sender: SessionSender,
    log: LogWriter,
  ) {
    this.updates = new SessionUpdates(sessionId, sender, log);
    this.#background = backgroundTools(this.updates, (method) => this.#checkOpen(method));
    this.#activation = activation;
    this.#servers = new SessionServers(definition, activation, sender);
    this.#definition = definition;
    this.#hasUserTitle = hasUserTitle;
    this.#options = completeConfigOptions(definition.session?.initialOptions ?? []);
  }

  get data(): unknown {
    if (this.#definition.session?.open === undefined)
      this.updates.warnOnce("session.data is undefined: return it from session.open of the agent");
    return this.#data;
  }

  set data(data: unknown) {
    this.#data = data;
  }

  get sessionId(): string {
    return this.updates.sessionId;
  }

  get principal(): string | undefined {
    return this.updates.sender.author?.principal;
  }

  get cwd(): string {
    return this.#activation.cwd;
  }

  get roots(): readonly string[] {
    return [this.#activation.cwd, ...this.#activation.additionalDirectories];
  }

  get mcpServers(): readonly SessionMcpServer[] {
    return this.#servers.list;
  }

  get systemPrompt(): SystemPrompt | undefined {
    return this.#activation.systemPrompt;
  }

  get _meta(): Meta | undefined {
    return this.#activation._meta;
  }

  get clientCapabilities(): ClientCapabilities {
    return this.updates.sender.client.capabilities;
  }

  get configOptions(): readonly SessionConfigOption[] {
    return this.#options;
  }

  get availableCommands(): readonly AvailableCommand[] {
    return this.#commands;
  }

  get turn(): Turn | undefined {
    return this.#turn?.hasEnded ? undefined : this.#turn;
  }

  readonly configOption: AgentSession["configOption"] = (configId) =>
    optionValue(this.#options.find((each) => each.configId === configId));

  readonly completeElicitation: AgentSession["completeElicitation"] = (elicitationId, { _meta } = {}) => {
    const { sender, client } = this.updates;
    if (!client.endUrl(elicitationId)) {
      const got = JSON.stringify(elicitationId);
      throw new TypeError(
        `completeElicitation: this client was asked for no elicitation ${got}, or it is over`,
      );
    }
    sender.notify("elicitation/complete", { elicitationId, ...optional({ _meta }) });
  };

  readonly setConfigOptions: AgentSession["setConfigOptions"] = (given) => {
    const options = completeConfigOptions(given);
    this.updates.check({ sessionUpdate: "config_option_update", configOptions: options });
    this.#options = options;
    this.updates.log.patch({ config: storedValues(options) });
    if (this.#isAnnounced)
      void this.updates.update({ sessionUpdate: "config_option_update", configOptions: [...options] });
  };

  readonly setAvailableCommands: AgentSession["setAvailableCommands"] = (commands) => {
    const availableCommands = completeCommands(commands);
    this.updates.check({ sessionUpdate: "available_commands_update", availableCommands });
    this.#commands = availableCommands;
    if (this.#isAnnounced)
      void this.updates.update({ sessionUpdate: "available_commands_update", availableCommands });
  };

  readonly setTitle: AgentSession["setTitle"] = (title) => {
    // a generated title does not replace the user's (A117)
    if (this.#hasUserTitle) return;
    void this.update({ sessionUpdate: "session_info_update", title });
    this.updates.log.patch({ title });
  };

  /** The user has set the title, and it is stored. */
  renamed(title: string): void {
    this.#hasUserTitle = true;
    void this.update({ sessionUpdate: "session_info_update", title });
  }

  readonly update: AgentSession["update"] = (update) => {
    this.#checkOpen("session.update");
    return this.updates.update(completeUpdate(update)) ?? sentAtOnce;
  };

  readonly history: AgentSession["history"] = () => this.updates.log.history();

  readonly setBackgroundWork: AgentSession["setBackgroundWork"] = (work) => this.updates.setBackground(work);

  readonly runInBackground: AgentSession["runInBackground"] = (start, run) => {
    this.#checkOpen("session.runInBackground");
    checkTool("session.runInBackground", start, run);
    return this.#background.run(start, this.cwd, run);
  };

  readonly terminal: AgentSession["terminal"] = (options = {}) => {
    this.#checkOpen("session.terminal");
    return new ShownTerminal(this.updates, { ...options, cwd: options.cwd ?? this.cwd });
  };

  readonly runTurn: AgentSession["runTurn"] = (run) => {
    return new Promise((resolve) => {
      const withdrawn = () => resolve({ stopReason: "cancelled" });
      warnOfWait(this.updates, () => this.#turn);
      if (this.updates.isClosed || this.#turn?.isAbandoned) return withdrawn();
      this.#queue.add({
        prompt: [],
        messageId: this.updates.newId(),
        run,
        inserted: () => undefined,
        ended: resolve,
        refused: withdrawn,
        withdrawn,
      });
    });
  };

  #checkOpen(method: string): void {
    if (this.updates.isClosed)
      throw new Error(`the session is closed: ${method}() has no effect; the client must load it again`);
  }

  /**
   * Another client has the session from now on. What waits to be sent goes there, and the turn goes on. For the client
   * before it is cancelled. Prompts that have not begun are taken back: the new client does not know them.
   */
  attach(sender: SessionSender): void {
    const waiting = this.#leaveClient();
    this.#endPrompts();
    this.updates.attach(sender);
    this.#inherited = this.#turn;
    for (const prompt of waiting) prompt.withdrawn();
  }

  /** Another process has the session from now on. `tell` is called before the prompts of the client end. */
  lost(tell: () => void): void {
    const waiting = this.#leaveClient();
    tell();
    this.#endPrompts();
    for (const prompt of waiting) prompt.withdrawn();
  }

  /** For the client, the turn is over. Returns its prompts that have not begun. */
  #leaveClient(): ReceivedPrompt[] {
    const inInbox = this.#turn?.inbox.withdrawAll() ?? [];
    const waiting = [...inInbox, ...this.#queue.withdrawAll(({ run }) => run === undefined)];
    if (this.updates.snapshot.state !== "idle") this.updates.output.showNow(takenState);
    return waiting;
  }

  #endPrompts(): void {
    if (this.#queue.current?.run === undefined) this.#queue.current?.ended({ stopReason: "cancelled" });
    for (const prompt of this.#turn?.joined ?? []) prompt.ended({ stopReason: "cancelled" });
  }

  reactivate(activation: Activation): void {
    this.#activation = activation;
    this.#servers.offer(activation, this.updates.sender);
  }

  /** From now on changes of options and commands are sent to the client. */
  announce(): void {
    this.#isAnnounced = true;
  }

  /** Queues a prompt, gives it to the turn that runs, or refuses it: as the definition says. */
  prompt(prompt: ReceivedPrompt): void {
    const { concurrentPrompts } = this.#definition;
    if (this.#turn?.isAbandoned) return prompt.refused(stillWorking());
    if (concurrentPrompts === "inbox" && this.#turn?.inbox.deliver(prompt)) return;
    const isBusy = this.#turn?.hasReportedEnd === false || this.#queue.waiting.length > 0;
    // a client without states was not told that a turn runs
    const isUnknown =
      this.#inherited !== undefined && !this.updates.sender.edition.prompts.answersAtInsertion;
    if (isBusy && !isUnknown && concurrentPrompts === "reject")
      return prompt.refused(turnInProgress("a turn is running: wait for its end or cancel it"));
    // an answer of version 1 is what comes while its prompt is open
    if (isBusy && isUnknown) this.updates.output.isMuted = true;
    this.#queue.add(prompt);
  }

  /** Gives a message to the turn that runs. Without one it is returned to its sender, or becomes a turn. */
  steer(prompt: ReceivedPrompt): void {
    if (this.#turn?.isAbandoned) return prompt.refused(stillWorking());
    if (this.#turn?.inbox.deliver(prompt)) return;
    if (prompt.left === undefined) this.#queue.add(prompt);
    else prompt.left();
  }

  /** Takes a prompt back whose turn has not begun. False when it has. */
  withdraw(prompt: ReceivedPrompt): boolean {
    return this.#turn?.inbox.withdraw(prompt) || this.#queue.withdraw(prompt);
  }

  /** Ends the turn of this prompt, if it runs. */
  cancelTurn({ messageId }: ReceivedPrompt): void {
    if (this.#turn?.messageId === messageId) this.#cancelRunning();
  }

  /** Ends the turn and withdraws what waits; both are outcomes, never errors. */
  cancel(): void {
    const waiting = [...(this.#turn?.inbox.close() ?? []), ...this.#queue.withdrawAll()];
    this.#cancelRunning();
    for (const prompt of waiting) prompt.withdrawn();
  }

  /** Cancels the turn. It ends without its handler when that ignores its signal. */
  #cancelRunning(): void {
    const turn = this.#turn;
    if (turn === undefined || turn.signal.aborted) return;
    turn.cancel();
    const { cancelGraceMs = defaultCancelGraceMs } = this.#definition.connection ?? {};
    this.#cancelGrace = backgroundDeadline(cancelGraceMs, () => {
      if (this.#turn === turn) this.#abandoned = this.#abandon(turn, "its turn was cancelled");
    });
  }

  /** Ends a turn whose handler goes on. */
  async #abandon(turn: RunningTurn, since: string): Promise<void> {
    const { current } = this.#queue;
    if (current === undefined || turn.isOver) return;
    this.#warn(
      `a prompt handler goes on after ${since}: pass turn.signal to everything that the handler waits for`,
    );
    const ending = abandonTurn(turn, current).then(() => true);
    // what came meanwhile would wait for the handler
    for (const prompt of this.#queue.withdrawAll()) prompt.refused(stillWorking());
    // the store hangs: the request is answered without it
    if ((await withTimeout(closeGraceMs, ending)) === undefined) current.withdrawn();
  }

  #warn(message: string): void {
    const { sender, sessionId } = this.updates;
    sender.log("warn", message, { sessionId });
  }

  async close(): Promise<void> {
    this.cancel();
    const servers = this.#servers.close();
    this.#background.close();
    this.updates.output.endReplay();
    this.updates.client.release();
    const turn = this.#turn;
    // a turn that was cancelled before has had a part of its time, or all of it
    const since = performance.now() - (turn?.cancelledAt ?? performance.now());
    const inTurn = turn?.isAbandoned ? this.#abandoned : this.#queue.running;
    const running = Promise.allSettled([inTurn, ...this.#background.running]);
    if ((await withTimeout(Math.max(0, closeGraceMs - since), running)) === undefined) {
      if (turn !== undefined && this.#turn === turn) await this.#abandon(turn, "its session was closed");
      if (this.#background.running.size > 0)
        this.#warn("background work goes on after its session was closed: it must heed tool.signal");
    }
    await withTimeout(closeGraceMs, Promise.all([servers, this.updates.close()]));
  }

  async #run(queued: QueuedTurn): Promise<ReceivedPrompt[]> {
    const { concurrentPrompts, unstable = [], exposeErrors = true, connection } = this.#definition;
    const clientTimeoutMs = connection?.clientTimeoutMs;
    const turn = newTurn(this, this.updates, queued, { clientTimeoutMs, exposesErrors: exposeErrors });
    this.#turn = turn;
    if (concurrentPrompts === "inbox")
      for (const prompt of this.#queue.withdrawAll(({ run }) => run === undefined))
        turn.inbox.deliver(prompt);
    try {
      const left = await runTurn(turn, queued, {
        handler: (given) => this.#answer(given),
        reportsUsage: () => lists(unstable, "usage"),
      });
      for (const prompt of left) prompt.left?.();
      return left.filter((prompt) => prompt.left === undefined);
    } catch (error) {
      this.updates.sender.log("error", "a turn could not be ended", { sessionId: this.sessionId, error });
      queued.refused(
        new RequestError("internal_error", "internal error", { data: { reason: "internal_error" } }),
      );
      return [];
    } finally {
      clearTimeout(this.#cancelGrace);
      this.#turn = undefined;
      this.#inherited = undefined;
      this.updates.output.isMuted = false;
    }
  }

  async #answer(turn: Turn): Promise<PromptEnd> {
    try {
      return await this.#definition.prompt(turn);
    } catch (error) {
      throw withLogins(error, this.#definition, this.updates.sender);
    }
  }
}

interface ServedSessionSettings {
  readonly sessionId: string;
  readonly activation: Activation;
  readonly definition: AgentDefinition;
  readonly hasUserTitle: boolean;
}
