// One session at the agent: its face, its history, and its prompts, one turn at a time.

import type { AgentSessionEdition } from "../edition/agent-edition.ts";
import type { Activation } from "../edition/agent-ops.ts";
import { RequestError, rpcCodes } from "../jsonrpc/errors.ts";
import type {
  AvailableCommand,
  ContentBlock,
  McpServer,
  Meta,
  SessionConfigOption,
  SystemPrompt,
} from "../model/content.ts";
import type { Entry } from "../model/entry.ts";
import type { Outcome, Update } from "../model/update.ts";
import type { AgentLink } from "./agent-link.ts";
import { newId } from "./new-id.ts";
import type { SessionLog } from "./session-log.ts";
import { runTurn, type Turn } from "./turn.ts";
import { within } from "./within.ts";

/** A prompt on its way: whoever sent it is told when it is part of the conversation, and when its work ended. */
export interface PromptTicket {
  readonly prompt: readonly ContentBlock[];
  /** Custom data of the request. */
  readonly meta?: Meta;
  readonly messageId: string;
  inserted(): void;
  ended(outcome: Outcome): void;
  refused(error: RequestError): void;
}

/** How long closing a session waits for its turn. */
const closeGraceMs = 5_000;

export class AgentSession {
  readonly sessionId: string;
  /** Yours: whatever you want to keep with the session while it lives. */
  data: unknown;
  /** @internal */ readonly link: AgentLink;
  /** @internal */ readonly log: SessionLog;
  readonly #newEdition: () => AgentSessionEdition;
  #edition: AgentSessionEdition;
  /** What happens while history is being sent. */
  #held: Update[] | undefined;
  #activation: Activation;
  #options: readonly SessionConfigOption[] = [];
  #commands: readonly AvailableCommand[] = [];
  #queue: PromptTicket[] = [];
  #turn: Turn | undefined;
  #current: PromptTicket | undefined;
  #running: Promise<void> | undefined;
  #closed = false;
  #idPrefix: string | undefined;
  #ids = 0;

  /** @internal */
  constructor(
    sessionId: string,
    activation: Activation,
    parts: {
      readonly link: AgentLink;
      readonly log: SessionLog;
      readonly edition: () => AgentSessionEdition;
    },
  ) {
    this.sessionId = sessionId;
    this.#activation = activation;
    this.link = parts.link;
    this.log = parts.log;
    this.#newEdition = parts.edition;
    this.#edition = parts.edition();
  }

  get cwd(): string {
    return this.#activation.cwd;
  }

  /** The directories that the client allows: the working directory first. */
  get roots(): readonly string[] {
    return [this.#activation.cwd, ...this.#activation.additionalDirectories];
  }

  get mcpServers(): readonly McpServer[] {
    return this.#activation.mcpServers;
  }

  get systemPrompt(): SystemPrompt | undefined {
    return this.#activation.systemPrompt;
  }

  get options(): readonly SessionConfigOption[] {
    return this.#options;
  }

  get commands(): readonly AvailableCommand[] {
    return this.#commands;
  }

  /** The turn that runs now. */
  get turn(): Turn | undefined {
    return this.#turn;
  }

  /** The current value of an option. */
  option(configId: string): string | boolean | undefined {
    const option = this.#options.find((each) => each.configId === configId);
    return option?.type === "select" || option?.type === "boolean" ? option.currentValue : undefined;
  }

  /** The flow behind a URL elicitation is over: the client need not wait for the user any longer. */
  completeElicitation(elicitationId: string): void {
    this.link.tell("elicitation/complete", { elicitationId });
  }

  /** Sets the whole list, and tells the client when it has seen another one. */
  setOptions(options: readonly SessionConfigOption[]): void {
    this.#options = options;
    this.link.saveOptions(this);
    if (this.link.isAnnounced(this)) {
      void this.update({ sessionUpdate: "config_option_update", configOptions: [...options] });
    }
  }

  setCommands(commands: readonly AvailableCommand[]): void {
    this.#commands = commands;
    if (this.link.isAnnounced(this)) {
      void this.update({ sessionUpdate: "available_commands_update", availableCommands: [...commands] });
    }
  }

  /** Names the session, for lists and windows. */
  setTitle(title: string): void {
    this.link.saveTitle(this, title);
    void this.update({ sessionUpdate: "session_info_update", title });
  }

  /**
   * Sends one update, in or outside a turn, and keeps it in the history. Throws when it is not valid. Returns a
   * promise only when the client is slow.
   */
  update(update: Update): Promise<void> | undefined {
    if (this.#closed) return undefined;
    const sent = this.show(update);
    this.log.update(update);
    return sent;
  }

  /**
   * @internal A new id for a message, a tool call, a terminal or a question. One random prefix per activation
   * and a counter: unique in the session's history, and a fiftieth of the cost of random bits for each.
   */
  newId(): string {
    this.#idPrefix ??= newId().slice(0, 10);
    this.#ids++;
    return `${this.#idPrefix}${this.#ids.toString(36)}`;
  }

  /** @internal Keeps it first, and shows it when it is stored: for what must not be shown and then forgotten. */
  async updateStored(update: Update): Promise<void> {
    if (this.#closed) return;
    if (this.#heldUpdates() !== undefined) return void this.update(update);
    const messages = [this.#edition.encode(update) ?? []].flat();
    const valid = messages.map((message) => this.link.checkUpdate(this.sessionId, message));
    this.log.update(update);
    // a store that fails must not keep a tool's end from whoever looks at it
    await this.log.flush().catch((error: unknown) => this.storeFailed(error));
    // history may have begun to be sent meanwhile
    const held = this.#heldUpdates();
    if (held !== undefined) held.push(update);
    else for (const params of valid) await this.link.sendChecked(params);
  }

  /** @internal */
  storeFailed(error: unknown): void {
    this.link.log("error", "the session's store failed", { sessionId: this.sessionId, error });
  }

  /** @internal Sends without keeping, for replays and states. */
  show(update: Update): Promise<void> | undefined {
    if (this.#closed) return undefined;
    if (this.#held !== undefined) {
      this.#held.push(update);
      return undefined;
    }
    return this.#send(update);
  }

  /** @internal Sends the history, whole and in order; what happens meanwhile follows it. */
  async replay(entries: () => AsyncIterable<Entry>): Promise<void> {
    const end = this.log.mark();
    this.#held = [];
    // the client forgets what it has seen, and so do we
    this.#edition = this.#newEdition();
    try {
      await this.log.flush();
      for await (const entry of entries()) {
        if (entry.seq >= end) break;
        const update = replayed(entry);
        if (update !== undefined) await this.#send(update);
      }
    } finally {
      const held = this.#held;
      this.#held = undefined;
      for (const update of held) void this.#send(update);
    }
  }

  #heldUpdates(): Update[] | undefined {
    return this.#held;
  }

  #send(update: Update): Promise<void> | undefined {
    const encoded = this.#edition.encode(update);
    if (encoded === undefined) return undefined;
    if (!Array.isArray(encoded)) return this.link.sendUpdate(this.sessionId, encoded);
    let last: Promise<void> | undefined;
    for (const one of encoded) last = this.link.sendUpdate(this.sessionId, one as object) ?? last;
    return last;
  }

  /** @internal */
  addClientTerminal(terminalId: string): void {
    this.#edition.addClientTerminal(terminalId);
  }

  /** @internal */
  reactivate(activation: Activation): void {
    this.#activation = activation;
  }

  /** @internal */
  prompt(ticket: PromptTicket): void {
    const { steering, concurrentPrompts } = this.link.definition;
    if (steering && this.#turn?.inbox.deliver(ticket)) return;
    if (!steering && this.#running !== undefined && concurrentPrompts === "reject") {
      const data = { reason: "turn_in_progress" };
      return ticket.refused(
        new RequestError(-32064, "a turn is running: wait for its end or cancel it", data),
      );
    }
    this.#queue.push(ticket);
    this.#running ??= this.#run();
  }

  /** @internal A prompt that was withdrawn before its turn began. */
  withdraw(ticket: PromptTicket): boolean {
    if (this.#turn?.inbox.withdraw(ticket)) return true;
    const at = this.#queue.indexOf(ticket);
    if (at >= 0) this.#queue.splice(at, 1);
    return at >= 0;
  }

  /** @internal Ends the turn and withdraws what waits; both are outcomes, never errors (A47). */
  cancel(): void {
    const waiting = [...(this.#turn?.inbox.close() ?? []), ...this.#queue];
    this.#queue = [];
    this.#turn?.cancel();
    for (const ticket of waiting) this.link.withdrawn(ticket);
  }

  /** @internal */
  async close(): Promise<void> {
    this.cancel();
    // a handler that does not heed its signal is left to itself
    const running = this.#running?.then(() => "ended");
    if (running !== undefined && (await within(closeGraceMs, running)) === undefined) {
      this.link.log("warn", "a prompt handler goes on after its session was closed", {
        sessionId: this.sessionId,
      });
      this.#current?.ended({ stopReason: "cancelled" });
    }
    this.#closed = true;
    await this.log.flush().catch((error: unknown) => this.storeFailed(error));
  }

  async #run(): Promise<void> {
    for (let ticket = this.#queue.shift(); ticket !== undefined; ticket = this.#queue.shift()) {
      this.#current = ticket;
      const left = await runTurn(this, ticket, (turn) => {
        this.#turn = turn;
        if (!this.link.definition.steering) return;
        // those who wait in line are there to be taken, in the order in which they came
        for (const waiting of this.#queue.splice(0)) turn.inbox.deliver(waiting);
      });
      this.#turn = undefined;
      // prompts that nobody took from the inbox are turns of their own, before later ones
      this.#queue.unshift(...left);
    }
    this.#running = undefined;
  }
}

/** What the client sees of one entry: messages and updates. Options and commands are what the answer says. */
function replayed(entry: Entry): Update | undefined {
  if (entry.kind === "prompt") {
    const { messageId, prompt } = entry;
    return { sessionUpdate: "user_message", messageId, content: [...prompt] };
  }
  if (entry.kind !== "update") return undefined;
  const { sessionUpdate } = entry.update;
  const isState = sessionUpdate === "config_option_update" || sessionUpdate === "available_commands_update";
  return isState ? undefined : entry.update;
}

/** The value as the option offers it. Throws -32602 for anything else, and nothing is changed (A79). */
export function checkOptionValue(
  options: readonly SessionConfigOption[],
  configId: string,
  value: string | boolean,
): SessionConfigOption {
  const option = options.find((each) => each.configId === configId);
  const wrong = (message: string) =>
    new RequestError(rpcCodes.invalidParams, message, { reason: "invalid_params", path: "/configId" });
  if (option === undefined) throw wrong("this session has no such option");
  if (option.type === "boolean") {
    if (typeof value !== "boolean") throw wrong("the option takes true or false");
    return { ...option, currentValue: value };
  }
  if (option.type !== "select") throw wrong("the option cannot be set");
  const offered = option.options.flatMap((choice) => ("groupId" in choice ? choice.options : [choice]));
  if (typeof value !== "string" || !offered.some((choice) => choice.value === value)) {
    throw wrong(`the option takes one of: ${offered.map((choice) => choice.value).join(", ")}`.slice(0, 500));
  }
  return { ...option, currentValue: value };
}
