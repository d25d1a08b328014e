// Rewinds a session: another one goes on from an earlier prompt, with the files as they were. This can be undone.

import type { ContentBlock, Entry, SessionOptions } from "@parley/acp";
import { RequestError } from "@parley/acp";
import { extensionIn, forkBeforeKey, rewindEntry, turnEntry } from "@parley/acp/extensions";
import { optional } from "@parley/acp/jsonrpc";
import type { JsonValue } from "@parley/acp/model";
import type { EntryBody } from "@parley/acp/store";
import { longestText, PastPrompts, typedText } from "../conversation/past-prompts.ts";
import type {
  CommandOf,
  ReviewedTurn,
  RewindBranches,
  RewindOutcome,
  SessionReference,
  StatusPatch,
  TakenBack,
  TurnSummary,
} from "../conversation/session-link.ts";
import type { ManagedConnection } from "../managed/manage-agent.ts";
import type { ManagedSessionOptions } from "../managed/managed-options.ts";
import type { ManagedSession } from "../managed/managed-session.ts";
import type { ChatInput } from "../prompt-input/chat-input.ts";
import type { BranchPoint, SessionBranches } from "./session-agent.ts";
import type { SessionHost } from "./session-host.ts";
import type { SessionTurns } from "./session-turns.ts";
import { toldConversation } from "./told-conversation.ts";
import type { TurnChanges, UndoneTurn } from "./turn-changes.ts";

/** What a rewind needs of its session. */
export interface RewindHost {
  changes(): TurnChanges | undefined;
  readonly turns: Pick<SessionTurns, "turn" | "pump">;
  /** Appends an entry, and reports the state with it. */
  own(body: EntryBody): void;
}

/** An entry of a rewind. Null: the field has no value any more. */
interface RewindNote {
  readonly from?: SessionReference | null;
  readonly to?: SessionReference | null;
  readonly memory?: RewindOutcome["memory"];
  readonly undone?: readonly UndoneTurn[];
}

const untouched: TakenBack = { files: 0, kept: [], notes: [] };

export class Rewinds {
  readonly #session: SessionHost;
  readonly #available: SessionBranches | undefined;
  readonly #host: RewindHost;
  readonly #prompts = new PastPrompts();
  #facts: StatusPatch = {};
  #title: string | undefined;
  #branches: RewindBranches = {};
  /** What the rewind that began this session took back, in order. */
  #undone: readonly UndoneTurn[] = [];
  /** The turns of this session since then. */
  #since: readonly ReviewedTurn[] = [];
  /** Whether the agent has not been told what was said before. */
  #isUntold = false;
  /** How the session began, if it is a branch that was opened here. */
  memory: RewindOutcome["memory"] = "kept";
  leftOut = 0;
  /** No prompt is sent meanwhile. */
  isRunning = false;

  constructor(session: SessionHost, available: SessionBranches | undefined, host: RewindHost) {
    this.#session = session;
    this.#available = available;
    this.#host = host;
    session.tail(undefined, (event) => {
      if (event.kind === "status") this.#facts = { ...this.#facts, ...event.status };
      if (event.kind !== "entries") return;
      if (event.status !== undefined) this.#facts = { ...this.#facts, ...event.status };
      for (const entry of event.entries) this.#entry(entry, event.isPast === true);
    });
  }

  /** Whether no turn runs, and none is about to. */
  get isIdle(): boolean {
    return this.#session.phase === "ready" && this.#host.turns.turn === undefined && !this.isRunning;
  }

  carryOut(command: CommandOf<"rewind" | "undoRewind">): Promise<RewindOutcome> {
    return command.kind === "rewind" ? this.#rewind(command.messageId) : this.#undo();
  }

  get branches(): RewindBranches | undefined {
    return this.#branches.from === undefined && this.#branches.to === undefined ? undefined : this.#branches;
  }

  #entry(entry: Entry, isPast: boolean): void {
    if (entry.kind === "update" && entry.update.sessionUpdate === "session_info_update")
      this.#title = entry.update.title ?? this.#title;
    const hasPrompt = this.#prompts.entry(entry) && entry.kind !== "extension";
    if (hasPrompt) {
      this.#isUntold = false;
      // it goes on after all
      if (!isPast && this.#branches.to !== undefined) void this.#goesOn();
    }
    if (entry.kind !== "extension") return;
    // as: only a host writes these entries
    if (entry.name === rewindEntry) this.#noted(entry.value as unknown as RewindNote);
    if (entry.name !== turnEntry) return;
    const { changed } = entry.value as unknown as TurnSummary;
    if (changed?.review !== undefined) this.#since = [...this.#since, changed.review];
  }

  #noted({ from, to, memory, undone }: RewindNote): void {
    this.#branches = optional({
      from: from === undefined ? this.#branches.from : (from ?? undefined),
      to: to === undefined ? this.#branches.to : (to ?? undefined),
    });
    if (from === undefined) return;
    this.#isUntold = from !== null && memory === "told";
    this.#undone = undone ?? [];
    this.#since = [];
    // a copy begins with the entries of its original
    if (from !== null && to === undefined) this.#branches = { from };
  }

  async #goesOn(): Promise<void> {
    this.#note({ to: null });
    const { historyId } = this.#session;
    if (historyId !== undefined) await this.#available?.left(historyId, undefined).catch(() => undefined);
  }

  #note(note: RewindNote): void {
    // as: plain JSON
    this.#noted(note);
    this.#host.own({ kind: "extension", name: rewindEntry, value: note as unknown as JsonValue });
  }

  /** The agent has opened the session. One that does not remember the conversation is told it with its first prompt. */
  async opened(memory: RewindOutcome["memory"] | undefined): Promise<void> {
    if (memory !== undefined) {
      // that of its original, whose entries it has
      this.#branches = {};
      this.memory = memory;
    }
    if (memory !== "told" && !this.#isUntold) return;
    await this.#session.stored();
    const { historyId } = this.#session;
    const entries = historyId === undefined ? undefined : this.#available?.entries(historyId);
    if (entries === undefined) return;
    const { told, leftOut } = await toldConversation(entries);
    this.leftOut = leftOut;
    if (told !== undefined) await this.#session.submit({ kind: "tell", key: crypto.randomUUID(), told });
    else if (memory === "told") this.memory = "new";
  }

  #rewind(messageId: string): Promise<RewindOutcome> {
    return this.#alone(async (branches) => {
      const { list } = this.#prompts;
      const at = list.findIndex((each) => each.messageId === messageId);
      if (at < 0) throw new Error("the session has no such prompt: choose another one");
      await this.#session.stored();
      const { historyId } = this.#session;
      if (historyId === undefined)
        throw new Error("this session is not stored, so it cannot be rewound: start it with a history");
      const { input: stored, atSeq } = await pointOf(branches.entries(historyId), messageId);
      const { text = "" } = list[at] ?? {};
      // secrets are not stored, and a long text is not kept
      const input = text.length < longestText ? { ...stored, text } : stored;
      // one that begins anew gets the title of its first prompt
      const title = at === 0 ? undefined : (this.#title ?? this.#facts.title ?? undefined);
      const cwd = this.#facts.cwd ?? "";
      const branch = await branches.open(this.#session, { messageId, atSeq, cwd, title });
      const turns = list.slice(at).flatMap((each) => each.turns);
      const { undone, ...files } = await this.#takeBack(turns);
      const { memory, leftOut } = branch.rewinds;
      branch.rewinds.#note({ from: reference(this.#session), memory, undone });
      await this.#leave(branch);
      return {
        session: reference(branch),
        input,
        memory,
        ...(leftOut > 0 && { leftOut }),
        files,
      };
    });
  }

  #undo(): Promise<RewindOutcome> {
    return this.#alone(async (branches) => {
      const { from } = this.#branches;
      if (from === undefined) throw new Error("this session was not begun by a rewind");
      const original = await branches.reopen(from);
      if (!original.rewinds.isIdle)
        throw new Error(`the agent works in the session that was left: ${whatToDo}`);
      const { undone: _, ...taken } = await this.#takeBack(this.#since);
      const restored = await this.#restore();
      await this.#leave(original, { from: null });
      original.rewinds.#note({ to: null });
      const { historyId } = original;
      if (historyId !== undefined) await branches.left(historyId, undefined);
      const files = {
        files: taken.files + restored.files,
        kept: [...taken.kept, ...restored.kept],
        notes: [...taken.notes, ...restored.notes],
      };
      return { session: reference(original), memory: "back", files };
    });
  }

  async #alone<Result>(work: (branches: SessionBranches) => Promise<Result>): Promise<Result> {
    const branches = this.#available;
    if (branches === undefined) throw new Error("sessions cannot be rewound here");
    if (this.#session.phase !== "ready")
      throw new Error("the agent does not run: start it again, then rewind");
    if (!this.isIdle) throw new Error(`the agent works: ${whatToDo}`);
    this.isRunning = true;
    try {
      return await work(branches);
    } finally {
      this.isRunning = false;
      this.#host.turns.pump();
    }
  }

  /** This session stays as it is. */
  async #leave(other: SessionHost, note: RewindNote = {}): Promise<void> {
    this.#note({ ...note, to: reference(other) });
    const { historyId } = this.#session;
    if (historyId !== undefined) await this.#available?.left(historyId, other.historyId);
  }

  async #takeBack(turns: readonly ReviewedTurn[]): Promise<TakenBack & { undone: readonly UndoneTurn[] }> {
    const changes = this.#host.changes();
    if (turns.length === 0 || changes?.rewind === undefined) return { ...untouched, undone: [] };
    // the conversation goes back all the same
    return changes.rewind(turns).catch((error: unknown) => ({ ...failed(error), undone: [] }));
  }

  async #restore(): Promise<TakenBack> {
    const changes = this.#host.changes();
    if (this.#undone.length === 0 || changes?.restore === undefined) return untouched;
    return changes.restore(this.#undone).catch(failed);
  }
}

const whatToDo = "stop the turn or wait for its end, then rewind";

function failed(error: unknown): TakenBack {
  const why = error instanceof Error ? error.message : String(error);
  return { ...untouched, notes: [`The files stay as they are: ${why}`] };
}

function reference({ historyId, sessionId }: SessionHost): SessionReference {
  return optional({ historyId, sessionId });
}

/** The prompt, and the last entry before it. */
async function pointOf(
  entries: AsyncIterable<Entry>,
  messageId: string,
): Promise<{ readonly input: ChatInput; readonly atSeq: number }> {
  let found: { input: ChatInput; readonly atSeq: number } | undefined;
  for await (const entry of entries) {
    const content = contentOf(entry, messageId);
    if (content !== undefined) {
      found ??= { input: { text: "" }, atSeq: entry.seq - 1 };
      // the agent repeats the prompt in its own words
      if (entry.kind === "prompt" || found.input.text === "") found.input = inputOf(content);
    }
    if (found !== undefined && (entry.kind === "prompt" || entry.kind === "result")) return found;
  }
  if (found !== undefined) return found;
  throw new Error("the prompt is not in the history, so the session cannot be rewound to it");
}

function contentOf(entry: Entry, messageId: string): readonly ContentBlock[] | undefined {
  if (entry.kind === "prompt") return entry.messageId === messageId ? entry.prompt : undefined;
  if (entry.kind !== "update" || !/^user_message(?:_chunk)?$/.test(entry.update.sessionUpdate))
    return undefined;
  // as: the types of unknown updates have any fields
  const { messageId: id, content } = entry.update as { messageId?: string; content?: unknown };
  return id === messageId ? ([content ?? []].flat() as unknown as readonly ContentBlock[]) : undefined;
}

/** The images that were pasted are the last ones, one for each mark in the text. */
function inputOf(content: readonly ContentBlock[]): ChatInput {
  const text = typedText(content);
  const marks = new Set(text.match(/\[image \d+\]/g)).size;
  const images = content.flatMap((block) =>
    block.type === "image" && "data" in block
      ? [{ mimeType: String(block.mimeType), data: String(block.data) }]
      : [],
  );
  return marks === 0 || images.length < marks ? { text } : { text, images: images.slice(-marks) };
}

/**
 * Opens the session of a branch: a fork before the message where the agent can, else a new one, which the host tells the
 * conversation with its first prompt.
 *
 * @param connection - The agent of the session.
 * @param sessionId - The agent's id of the session.
 * @param point - Where the branch begins.
 * @param place - What the session is opened with.
 *
 * @example
 * import { type BranchPoint, openBranch, type SessionHost } from "@parley/client/host";
 *
 * export async function branchOf(session: SessionHost, point: BranchPoint): Promise<string> {
 *   const { agent, sessionId = "" } = session;
 *   if (agent?.connection === undefined) throw new Error("the agent has not been started");
 *   const { memory } = await openBranch(agent.connection, sessionId, point, { cwd: point.cwd });
 *   return memory;
 * }
 */
export async function openBranch(
  connection: ManagedConnection,
  sessionId: string,
  { messageId, atSeq }: BranchPoint,
  place: ManagedSessionOptions & Pick<SessionOptions, "cwd">,
): Promise<{ readonly session: ManagedSession; readonly memory: "kept" | "told" }> {
  const copies = { sessionId, atSeq };
  const { fork, partsMeta } = connection.capabilities;
  if (fork && extensionIn(partsMeta?.["session.fork"], forkBeforeKey) === true)
    try {
      const session = await connection.forkSession(sessionId, { ...place, copies, before: messageId });
      return { session, memory: "kept" };
    } catch (error) {
      // in version 1 the agent does not know the ids of prompts
      if (!(error instanceof RequestError)) throw error;
    }
  return { session: await connection.newSession({ ...place, copies }), memory: "told" };
}
