// Tells the agent what the user took back, once, in words that a model understands.

import type { Hunk } from "./review-types.ts";

/** At most this many lines of a hunk are quoted. */
const maxLines = 12;

export interface Reported {
  readonly path: string;
  readonly hunk: Hunk;
}

/** What the agent was not told yet. */
export interface ReportState {
  readonly undone: readonly (readonly [id: number, hunks: readonly Reported[]])[];
  readonly redone: readonly Reported[];
}

export class Report {
  readonly #undone = new Map<number, readonly Reported[]>();
  #redone: Reported[] = [];

  undone(id: number, hunks: readonly Reported[]): void {
    if (hunks.length > 0) this.#undone.set(id, hunks);
  }

  /** What comes back before the agent heard of it needs no word. */
  redone(id: number, hunks: readonly Reported[]): void {
    const waiting = this.#undone.get(id);
    if (waiting === undefined) {
      this.#redone.push(...hunks);
      return;
    }
    const left = waiting.filter(({ hunk }) => !hunks.some((each) => each.hunk.id === hunk.id));
    if (left.length > 0) this.#undone.set(id, left);
    else this.#undone.delete(id);
  }

  get state(): ReportState {
    return { undone: [...this.#undone], redone: this.#redone };
  }

  restore({ undone, redone }: ReportState): void {
    for (const [id, hunks] of undone) this.#undone.set(id, hunks);
    this.#redone = [...redone];
  }

  take(): string | undefined {
    const undone = [...this.#undone.values()].flat();
    const redone = this.#redone;
    this.#undone.clear();
    this.#redone = [];
    const parts = [
      ...(undone.length === 0
        ? []
        : [
            "The user took back these changes of yours. The files on disk are without them now. Do not make them again unless you are asked to.",
            ...undone.map((each) => described(each, "undone")),
          ]),
      ...(redone.length === 0
        ? []
        : [
            "The user put these changes of yours back, which had been taken back before:",
            ...redone.map((each) => described(each, "redone")),
          ]),
    ];
    return parts.length === 0 ? undefined : parts.join("\n");
  }
}

function described({ path, hunk }: Reported, what: "undone" | "redone"): string {
  const turns = hunk.turns.join(" and ");
  const head = `- ${path} (turn ${turns})${hunk.kind === "lines" ? "" : `: ${hunk.about ?? ""}`}`;
  const changed = hunk.lines.filter(({ kind }) => kind !== "context");
  const quoted = changed
    .slice(0, maxLines)
    .map(({ kind, text }) => `    ${kind === "added" ? "+" : "-"}${text}`);
  const rest = changed.length - quoted.length;
  const note = rest > 0 ? [`    (and ${rest} more lines, ${what})`] : [];
  return [head, ...quoted, ...note].join("\n");
}
