// What the keys and commands of the face do.

import { isAbsolute, join } from "node:path";
import type { ChatInput } from "@parley/client/conversation";
import { stopProcess } from "../../screen/stop-process.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { paletteEntries } from "../keys/help-entries.ts";
import { type ChatAction, chatCommands } from "../keys/keys-and-commands.ts";
import { UnknownCommands } from "../keys/unknown-commands.ts";
import { type NamedResult, resultLines } from "../review/result-lines.ts";
import type { SessionReview } from "../review/session-review.ts";
import { HelpSheet } from "../sheets/help-sheet.ts";
import { Picker } from "../sheets/picker.ts";
import { ReviewSheet } from "../sheets/review-sheet.ts";
import { FullTranscript } from "../transcript/full-transcript.ts";
import { BranchChoices } from "./branch-choices.ts";
import type { ChatFace } from "./chat-face.ts";
import { clipboardImage } from "./clipboard-image.ts";
import { runEditor } from "./composer.ts";
import { FaceChoices } from "./face-choices.ts";
import { SessionChoices } from "./session-choices.ts";

export class FaceActions {
  readonly #face: ChatFace;
  readonly #choices: FaceChoices;
  readonly #sessions: SessionChoices;
  readonly #branches: BranchChoices;
  readonly #unknown = new UnknownCommands();

  constructor(face: ChatFace) {
    this.#face = face;
    this.#choices = new FaceChoices(face);
    this.#sessions = new SessionChoices(face);
    this.#branches = new BranchChoices(face);
  }

  /** A prompt, a command of ours, or a line for the shell. */
  submitted(input: ChatInput): void {
    const { session } = this.#face;
    const text = input.text.trim();
    if (text.startsWith("!")) return this.#face.attempt(session.shell(text.slice(1).trim()));
    const command = commandIn(text);
    if (command !== undefined) return this.run(command.action, command.rest);
    if (!this.#isRefused(input)) session.send(input);
  }

  /** Commands of the agent are prompts. What nobody knows goes back to the prompt. */
  #isRefused(input: ChatInput): boolean {
    const { session, composer } = this.#face;
    // those of the agent are not known before it is ready
    if (session.phase !== "ready") return false;
    const known = [...chatCommands, ...session.commands].map(({ name }) => name);
    const why = this.#unknown.refusal(input.text, known);
    if (why === undefined) return false;
    composer.restore(input);
    this.#face.say(safeLine(why), "warning");
    return true;
  }

  /** Nothing waits in a session that could not be opened: it goes back to the prompt. */
  unsent(): void {
    const { session } = this.#face;
    if (session.phase !== "failed") return;
    for (const { id } of session.queue.toReversed()) this.#edit(id);
  }

  /** Takes a prompt that waits back to be edited. */
  #edit(id: string): void {
    const { session, composer } = this.#face;
    this.#face.attempt(
      session.unqueue(id).then((input) => {
        if (input !== undefined) composer.restore(input);
      }),
    );
  }

  run(action: ChatAction, rest: string): void {
    const { session, conversation, composer } = this.#face;
    switch (action) {
      case "help":
        return this.#face.openFull(
          new HelpSheet({ paint: this.#face.paint, closed: () => this.#face.openFull(undefined) }),
        );
      case "palette":
        return this.#palette();
      case "stop":
        return session.cancel();
      case "steer":
        return this.#steer();
      case "leave":
        return this.#face.leave();
      case "new":
        return void conversation.open({ kind: "new", ...(rest === "" ? {} : { agent: rest }) });
      case "fork":
        return this.#sessions.fork(session);
      case "sessions":
        return this.#sessions.list(rest);
      case "agents":
        return rest === "" ? this.#agents() : void conversation.open({ kind: "new", agent: rest });
      case "mode":
        return this.#choices.nextMode();
      case "modes":
        return this.#choices.choose("mode", rest);
      case "models":
        return this.#choices.choose("model", rest);
      case "options":
        return this.#choices.options();
      case "history":
        return this.#history();
      case "editor":
        return this.#face.attempt(composer.edit().then((problem) => this.#edited(problem)));
      case "transcript":
        return void this.#transcript();
      case "previousPrompt":
        return this.#transcript().previousPrompt();
      case "image":
        return this.#face.attempt(this.#pasteImage());
      case "queue":
        return this.#queue();
      case "files":
        return this.#files();
      case "rewind":
      case "context":
      case "clearContext":
      case "compact":
        return this.#branches.run(action, rest);
      case "rename":
        return rest === ""
          ? this.#face.hint("type /rename and the new title")
          : this.#face.attempt(
              session.rename(rest).then(() => this.#face.say(`renamed to ${safeLine(rest)}`)),
            );
      case "export":
        return this.#face.attempt(this.#sessions.export(rest));
      case "copy":
        return this.#copy();
      case "theme":
        return this.#choices.theme(rest);
      case "restart":
        return this.#face.attempt(session.restart());
      case "review":
        return this.#review();
      case "undo":
        return this.#takeBack((review) => review.undoTurn());
      case "redo":
        return this.#takeBack((review) => review.redoLast());
      case "redraw":
        return this.#face.screen.refresh();
      case "suspend":
        return this.#suspend();
      // the prompt does these itself
      case "send":
      case "newline":
      case "clear":
      case "focus":
      case "deleteLine":
        return;
      default:
        return action satisfies never;
    }
  }

  /** All commands, ours and those of the agent. */
  #palette(): void {
    const { session, composer } = this.#face;
    const ours = paletteEntries.map((entry) => ({
      label: entry.label,
      detail: entry.help,
      value: () => (entry.typed === undefined ? this.run(entry.action, "") : write(entry.typed)),
    }));
    const names = new Set(chatCommands.map(({ name }) => name));
    const theirs = session.commands
      .filter(({ name }) => !names.has(name))
      .map(({ name, description }) => ({
        label: `/${safeLine(name)}`,
        detail: safeLine(description.slice(0, 1_000)),
        value: () => write(`/${name} `),
      }));
    const write = (text: string) => {
      if (!composer.isEmpty) this.#face.hint("your prompt is kept: the Up key brings it back");
      composer.clear();
      composer.text = text;
    };
    this.#choices.pick("Commands", [...ours, ...theirs], (work) => work());
  }

  readonly #close = (): void => this.#face.open(undefined);

  #complain(problem: string | undefined): void {
    if (problem !== undefined) this.#face.say(problem, "warning");
  }

  /** A question that came meanwhile is not answered by keys for the editor. */
  #edited(problem: string | undefined): void {
    this.#complain(problem);
    this.#close();
  }

  #suspend(): void {
    const { screen } = this.#face;
    if (process.platform === "win32") return this.#face.hint("a shell of Windows cannot bring it back");
    this.#face.attempt(screen.suspend(() => stopProcess()));
  }

  // ---- prompts

  #steer(): void {
    const { composer, session } = this.#face;
    if (composer.isEmpty) return;
    const input = composer.take();
    // what is not for the agent does not need its attention
    if (/^\s*!/.test(input.text) || commandIn(input.text) !== undefined) return this.submitted(input);
    if (this.#isRefused(input)) return;
    this.#face.attempt(
      session.steer(input).then((how) => {
        if (how === "resent")
          this.#face.say(
            `${session.agent.name} takes no messages while it works: it was stopped and gets this one next`,
          );
      }),
    );
  }

  async #pasteImage(): Promise<void> {
    const { composer, session } = this.#face;
    if (!session.agent.accepts.images && session.phase === "ready")
      return this.#face.hint(`${session.agent.name} takes no images`);
    const image = await clipboardImage(process.env);
    if (typeof image === "string") return this.#face.hint(image);
    composer.addImage(image);
    this.#face.redraw();
  }

  #history(): void {
    const { conversation, composer, paint } = this.#face;
    this.#face.open(
      new Picker<string>({
        title: "Earlier prompts",
        paint,
        query: composer.text,
        search: async (query) =>
          (await conversation.prompts(query)).map((value) => ({ label: safeLine(value), value })),
        chosen: (value) => {
          this.#close();
          composer.text = value;
        },
        closed: this.#close,
        redraw: () => this.#face.redraw(),
      }),
    );
  }

  #queue(): void {
    const { session, paint } = this.#face;
    if (session.queue.length === 0) return this.#face.hint("nothing waits");
    const items = () => session.queue.map(({ id, text }) => ({ label: safeLine(text), value: id }));
    const picker: Picker<string> = new Picker<string>({
      title: "Waiting prompts",
      paint,
      items: items(),
      hint: "Enter edits, Alt-Up and Alt-Down move, Ctrl-X deletes, Esc closes",
      chosen: (id) => {
        this.#close();
        this.#edit(id);
      },
      keys: {
        "alt+up": (id) => moved(id, -1),
        "alt+down": (id) => moved(id, 1),
        "ctrl+x": (id) => {
          this.#face.attempt(session.unqueue(id).then(() => picker.replace(items())));
        },
      },
      closed: this.#close,
      redraw: () => this.#face.redraw(),
    });
    const moved = (id: string, by: number) => {
      session.moveQueued(id, by);
      picker.replace(items());
    };
    this.#face.open(picker);
  }

  // ---- agents

  #agents(): void {
    const { conversation } = this.#face;
    this.#face.attempt(
      conversation.agents().then((agents) =>
        this.#choices.pick(
          "Agents",
          agents.map(({ name, description, isInstalled, isDefault }) => ({
            label: name,
            detail: `${description}${isDefault ? " (default)" : ""}`,
            group: isInstalled ? "Installed" : "Not installed",
            isCurrent: name === this.#face.session.agent.name,
            value: name,
          })),
          (agent) => void conversation.open({ kind: "new", agent }),
        ),
      ),
    );
  }

  // ---- review

  #review(): void {
    const { review, session, paint } = this.#face;
    if (review === undefined) return this.#face.hint("changes are not followed here");
    this.#face.openFull(
      new ReviewSheet({
        paint,
        review,
        cwd: session.cwd,
        closed: () => this.#face.openFull(undefined),
        redraw: () => this.#face.redraw(),
        said: (told) => session.tell(told),
      }),
    );
  }

  #takeBack(work: (review: SessionReview) => Promise<NamedResult | string>): void {
    const { review, session } = this.#face;
    if (review === undefined) return this.#face.hint("changes are not followed here");
    if (session.turn !== undefined) this.#face.hint("it is taken back when the turn has ended");
    this.#face.attempt(
      work(review).then((result) => {
        if (typeof result === "string") return this.#face.hint(result);
        this.#face.say(resultLines(result, session.cwd).join("\n"));
      }),
    );
  }

  // ---- transcript and files

  #transcript(): FullTranscript {
    const { session, paint } = this.#face;
    const transcript = new FullTranscript({
      view: () => session.view,
      paint,
      cwd: session.cwd,
      closed: () => this.#face.openFull(undefined),
      open: (path, line) => this.#openFile(path, line),
      copy: (text) => this.#face.screen.copy(text),
      redraw: () => this.#face.redraw(),
    });
    this.#face.openFull(transcript);
    return transcript;
  }

  #files(): void {
    const { view, cwd } = this.#face.session;
    const files = [...view.files.values()].toReversed();
    if (files.length === 0) return this.#face.hint("the agent has not touched any files");
    this.#choices.pick(
      "Files that the agent touched",
      files.map((file) => ({
        label: safeLine(file.path),
        detail: [...file.operations].join(", "),
        value: file,
      })),
      ({ path, toolCallIds }) => {
        const locations = [...toolCallIds].flatMap((id) => view.toolCalls.get(id)?.locations ?? []);
        const line = locations.findLast((each) => each.path === path)?.line;
        this.#openFile(isAbsolute(path) ? path : join(cwd, path), line ?? undefined);
      },
    );
  }

  #openFile(path: string, line: number | undefined): void {
    const { screen, editor } = this.#face;
    const args = line === undefined ? [path] : lineArguments(editor, path, line);
    this.#face.attempt(
      screen.suspend(() => runEditor(editor, args)).then((problem) => this.#edited(problem)),
    );
  }

  #copy(): void {
    const { view } = this.#face.session;
    const last = view.timeline.findLast(({ kind }) => kind === "agent_message");
    if (last?.kind !== "agent_message") return this.#face.hint("there is no answer to copy");
    this.#face.screen.copy(last.text);
    this.#face.hint("copied");
  }
}

/** A command of ours, and what follows it. */
function commandIn(text: string): { readonly action: ChatAction; readonly rest: string } | undefined {
  const [, name, rest = ""] = /^\s*\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  const command = chatCommands.find((each) => each.name === name);
  return command && { action: command.action, rest: rest.trim() };
}

/** How editors take a line. */
function lineArguments(editor: string, path: string, line: number): string[] {
  const program = /(?:^|\/)([\w.-]+)(?:\s|$)/.exec(editor)?.[1] ?? "";
  if (/^(?:code|codium|cursor|windsurf)$/.test(program)) return ["-g", `${path}:${line}`];
  if (/^(?:subl|zed|hx|helix)$/.test(program)) return [`${path}:${line}`];
  return [`+${line}`, path];
}
