// Where the user writes: the prompt with its images, its history and the editor of the user.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChatInput, PastedImage } from "@parley/client/conversation";
import type { KeyPress } from "../../screen/key-press.ts";
import { type DrawnPrompt, PromptEditor } from "../../screen/prompt-editor.ts";
import type { Screen } from "../../screen/screen.ts";
import type { Paint } from "../../terminal/paint.ts";
import type { Conversations } from "../conversation/conversations.ts";
import { chatCompletions } from "./completions.ts";
import { pastedImage } from "./pasted-image.ts";

export interface ComposerOptions {
  readonly screen: Screen;
  readonly conversation: Conversations;
  readonly paint: Paint;
  readonly redraw: () => void;
  /** The command of the user's editor. */
  readonly editor: string;
}

const mark = "> ";
const imageMark = /\[image (\d+)\]/g;

export class Composer {
  /** Called when the user has finished a prompt. */
  onSubmit: ((input: ChatInput) => void) | undefined;
  /** When the text changed last, by performance.now(). */
  touchedAt = Number.NEGATIVE_INFINITY;
  readonly #options: ComposerOptions;
  readonly #editor: PromptEditor;
  readonly #images = new Map<number, PastedImage>();

  constructor(options: ComposerOptions) {
    const { screen, conversation, paint, redraw } = options;
    this.#options = options;
    this.#editor = new PromptEditor({
      rows: () => screen.rows,
      redraw,
      menu: {
        selectedPrefix: (text) => paint("accent", text),
        selectedText: (text) => paint("accent", text),
        description: (text) => paint("dim", text),
        scrollInfo: (text) => paint("dim", text),
        noMatch: (text) => paint("dim", text),
      },
    });
    this.#editor.complete(chatCompletions(conversation));
    this.#editor.onSubmit = (text) => this.#submitted(text);
    this.#editor.onChange = () => {
      this.touchedAt = performance.now();
      conversation.current.draft = this.#editor.text;
    };
  }

  get text(): string {
    return this.#editor.text;
  }

  /** Nobody has typed it. */
  set text(text: string) {
    const { touchedAt } = this;
    this.#editor.text = text;
    this.touchedAt = touchedAt;
  }

  get isEmpty(): boolean {
    return this.text.trim() === "";
  }

  get hasMenu(): boolean {
    return this.#editor.hasMenu;
  }

  /** Empties the prompt. The up key brings back what was there. */
  clear(): void {
    const { text } = this;
    if (text.trim() !== "") this.#editor.remember(text);
    this.text = "";
  }

  remember(prompts: readonly string[]): void {
    for (const prompt of prompts) this.#editor.remember(prompt);
  }

  /** Puts an input back, such as one that waited in the queue. What is written already follows it. */
  restore({ text, images = [] }: ChatInput): void {
    const written = this.take();
    const first = this.#withImages(text, images);
    const second = this.#withImages(written.text, written.images ?? []);
    this.text = written.text.trim() === "" ? first : `${first}\n\n${second}`;
  }

  /** Takes the images, in the order of their marks, and numbers the marks anew. */
  #withImages(text: string, images: readonly PastedImage[]): string {
    const waiting = [...images];
    return text.replaceAll(imageMark, (mark) => {
      const image = waiting.shift();
      if (image === undefined) return mark;
      const number = this.#images.size + 1;
      this.#images.set(number, image);
      return `[image ${number}]`;
    });
  }

  /** What was written so far, which is then gone from the prompt. */
  take(): ChatInput {
    const input = this.#inputOf(this.text);
    this.text = "";
    this.#images.clear();
    return input;
  }

  /** The path of an image that is dropped or pasted becomes the image. */
  key(key: KeyPress): void {
    const dropped = key.paste === undefined ? undefined : pastedImage(key.paste);
    if (dropped === undefined) return this.#editor.handle(key);
    dropped.then(
      (image) => {
        if (image === undefined) this.#editor.handle(key);
        else this.addImage(image);
        this.#options.redraw();
      },
      () => this.#editor.handle(key),
    );
  }

  addImage(image: PastedImage): void {
    const number = this.#images.size + 1;
    this.#images.set(number, image);
    this.#editor.insert(`[image ${number}] `);
  }

  /** `isAsked` says that a question gets the keys. */
  draw(width: number, isAsked = false): DrawnPrompt {
    const { paint, conversation } = this.#options;
    const drawn = this.#editor.draw(width - mark.length);
    const isShell = this.text.startsWith("!");
    const first = paint(isShell ? "warning" : "user", isShell ? "! " : mark);
    const lines = drawn.lines.map((line, at) => `${at === 0 ? first : "  "}${line}`);
    if (this.text === "" && lines.length === 1)
      lines[0] = `${first}${paint("dim", hintOf(conversation, width - mark.length, isAsked))}`;
    const { cursor } = drawn;
    return {
      ...drawn,
      lines,
      menu: drawn.menu.map((line) => `  ${line}`),
      ...(cursor && { cursor: { row: cursor.row, column: cursor.column + mark.length } }),
    };
  }

  /** Writes the prompt in the editor of the user. Returns what went wrong. */
  async edit(): Promise<string | undefined> {
    const { screen, editor } = this.#options;
    const folder = await mkdtemp(join(tmpdir(), "parley-prompt-"));
    try {
      const file = join(folder, "prompt.md");
      await writeFile(file, this.text, { mode: 0o600 });
      const problem = await screen.suspend(() => runEditor(editor, [file]));
      if (problem !== undefined) return problem;
      this.text = (await readFile(file, "utf8")).trimEnd();
      return undefined;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  #submitted(text: string): void {
    if (text.trim() === "") return;
    const input = this.#inputOf(text);
    this.#images.clear();
    this.#editor.remember(text);
    this.#options.conversation.current.draft = "";
    this.touchedAt = Number.NEGATIVE_INFINITY;
    this.onSubmit?.(input);
  }

  /** The images whose marks are still in the text. */
  #inputOf(text: string): ChatInput {
    const images = [...text.matchAll(imageMark)].flatMap(([, number]) => {
      const image = this.#images.get(Number(number));
      return image === undefined ? [] : [image];
    });
    return images.length === 0 ? { text } : { text, images };
  }
}

function hintOf({ current }: Conversations, width: number, isAsked: boolean): string {
  if (isAsked) return fitting(width, ["answer the question, or press Tab to write a prompt", "Tab to write"]);
  const { phase, problem, turn, queue } = current;
  if (problem?.status !== undefined)
    return fitting(width, ["Enter tries again, /new starts a new session", "Enter tries again"]);
  if (phase === "starting") return fitting(width, ["write; it is sent when the agent is ready"]);
  if (phase === "failed")
    return fitting(width, [
      "Enter starts the agent again, Alt-A starts another one",
      "Enter starts it again",
    ]);
  if (phase === "crashed")
    return fitting(width, [
      "Enter starts the agent again and continues, /new starts a new session",
      "Enter starts the agent again and continues",
      "Enter starts it again",
    ]);
  if (turn !== undefined)
    return fitting(width, ["Enter queues, Alt-Enter sends it now, Esc stops", "Enter queues, Esc stops"]);
  if (queue.length > 0)
    return fitting(width, ["Enter sends what waits, Alt-Q edits it", "Enter sends what waits"]);
  return fitting(width, [
    "write to the agent, / for commands, @ for files, ! for the shell, ? for help",
    "write, / for commands, @ for files, ? for help",
    "write, ? for help",
  ]);
}

/** The first that fits. */
function fitting(width: number, hints: readonly string[]): string {
  return hints.find(({ length }) => length < width) ?? "";
}

/** Runs the editor of the user in the terminal. Returns what went wrong. */
export async function runEditor(editor: string, args: readonly string[]): Promise<string | undefined> {
  // the setting may contain arguments, as it does for git
  const child = spawn("/bin/sh", ["-c", `${editor} "$@"`, "sh", ...args], { stdio: "inherit" });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  child.once("error", ({ message }) => resolve(`cannot start the editor ${editor}: ${message}`));
  child.once("exit", (code) =>
    resolve(
      code === 0 ? undefined : `the editor ${editor} ended with ${code ?? "a signal"}; nothing was changed`,
    ),
  );
  return promise;
}
