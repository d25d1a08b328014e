// Lines of several items below each other, with blank lines between those that need them.

import type { ItemGroup } from "./item-state.ts";
import { append } from "./message-stream.ts";

/** What the last lines belong to. */
export interface PageEnd {
  readonly group: ItemGroup;
  readonly source: unknown;
}

export class Page {
  readonly lines: string[] = [];
  /** The characters of the lines. */
  size = 0;
  #end: PageEnd | undefined;

  /** @param above - What stands above. Default: nothing. */
  constructor(above?: PageEnd) {
    this.#end = above;
  }

  get end(): PageEnd | undefined {
    return this.#end;
  }

  /** Lines of the same source are not separated. */
  put(lines: readonly string[], group: ItemGroup, source: unknown): void {
    if (lines.length === 0) return;
    const isApart =
      this.#end !== undefined &&
      this.#end.source !== source &&
      !(this.#end.group === "event" && group === "event");
    if (isApart && lines[0] !== "") this.lines.push("");
    append(this.lines, lines);
    for (const line of lines) this.size += line.length + 1;
    this.#end = { group, source };
  }
}
