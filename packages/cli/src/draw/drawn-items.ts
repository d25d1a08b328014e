// Keeps what was drawn, so that drawing a long transcript again costs only what has changed.

import type { MessageItem, SessionView, TimelineItem } from "@parley/acp/view";
import { drawItem } from "./draw-item.ts";
import type { DrawOptions } from "./draw-options.ts";
import { indented, messageIndent } from "./message-lines.ts";
import { StreamedMarkdown } from "./streamed-markdown.ts";

interface Drawn {
  readonly state: string;
  readonly lines: readonly string[];
  /** The number of characters. */
  readonly size: number;
  readonly stream: Stream | undefined;
}

/** A message that may grow. */
interface Stream {
  readonly markdown: StreamedMarkdown;
  readonly layout: string;
  readonly finished: string[];
  text: string;
}

export interface DrawnItemsOptions extends Omit<DrawOptions, "width" | "isExpanded" | "now"> {
  /** About how many characters are kept. Default: 16 million. */
  readonly mostKept?: number;
}

/** Shorter messages are drawn at once. */
const leastStreamed = 2_000;

export class DrawnItems {
  readonly #options: DrawnItemsOptions;
  readonly #most: number;
  /** The one that was used last is the last. */
  readonly #drawn = new Map<string, Drawn>();
  #size = 0;

  constructor(options: DrawnItemsOptions) {
    this.#options = options;
    this.#most = options.mostKept ?? 16_000_000;
  }

  /** As `drawItem`. Do not change the lines. */
  draw(
    item: TimelineItem,
    view: SessionView,
    { width, isExpanded = false, now }: Pick<DrawOptions, "width" | "isExpanded" | "now">,
  ): readonly string[] {
    const layout = `${width} ${isExpanded}`;
    const state = `${layout} ${stateOf(item, view, now)}`;
    const known = this.#drawn.get(item.key);
    if (known?.state === state) {
      this.#drawn.delete(item.key);
      this.#drawn.set(item.key, known);
      return known.lines;
    }
    const stream = isStreamed(item) ? this.#streamOf(item, layout, known?.stream) : undefined;
    const options = { ...this.#options, width, isExpanded, ...(now !== undefined && { now }) };
    const lines = stream === undefined ? drawItem(item, view, options) : streamedLines(stream, width);
    this.#keep(item.key, { state, lines, size: sizeOf(lines), stream });
    return lines;
  }

  /** Forgets everything, such as when colours were loaded. */
  clear(): void {
    this.#drawn.clear();
    this.#size = 0;
  }

  #streamOf(item: MessageItem, layout: string, known: Stream | undefined): Stream {
    const { text } = item;
    if (known !== undefined && known.layout === layout && text.startsWith(known.text)) {
      known.markdown.push(text.slice(known.text.length));
      known.text = text;
      return known;
    }
    const markdown = new StreamedMarkdown(this.#options.paint);
    markdown.push(text.trimStart());
    return { markdown, layout, finished: [], text };
  }

  #keep(key: string, drawn: Drawn): void {
    this.#size += drawn.size - (this.#drawn.get(key)?.size ?? 0);
    this.#drawn.delete(key);
    this.#drawn.set(key, drawn);
    for (const [old, { size }] of this.#drawn) {
      if (this.#size <= this.#most || old === key) return;
      this.#drawn.delete(old);
      this.#size -= size;
    }
  }
}

/** Everything that an item shows besides its layout. */
function stateOf(item: TimelineItem, view: SessionView, now: number | undefined): string {
  if (item.kind !== "tool_call") return String(item.version);
  let version = item.version;
  for (const id of item.terminalIds) version = Math.max(version, view.terminals.get(id)?.version ?? 0);
  // tenths of seconds are shown while it runs
  return item.open && now !== undefined ? `${version} ${Math.floor(now / 100)}` : String(version);
}

function isStreamed(item: TimelineItem): item is MessageItem {
  if (item.kind !== "agent_message") return false;
  const [first, another] = item.content;
  return another === undefined && first?.type === "text" && String(first.text).length >= leastStreamed;
}

function streamedLines({ markdown, finished }: Stream, width: number): string[] {
  const room = width - messageIndent.length;
  for (const line of indented(markdown.takeFinished(room))) finished.push(line);
  return [...finished, ...indented(markdown.rest(room))];
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}
