// A session, and what the feed of its transcript prints and draws.

import assert from "node:assert/strict";
import type { Entry, SessionUpdate } from "@parley/acp";
import { applyEntry, createView, type SessionView } from "@parley/acp/view";
import type { TurnSummary } from "@parley/client/conversation";
import { TranscriptFeed } from "../../src/chat/transcript/transcript-feed.ts";
import { unicodeMarks } from "../../src/draw/marks.ts";
import { painter } from "../../src/terminal/paint.ts";

export const plain = painter(false, {});
export const text = (value: string) => ({ type: "text", text: value }) as const;

/** A session, and what a screen shows of it. */
export class Shown {
  readonly view: SessionView;
  readonly printed: string[] = [];
  tail: string[] = [];
  width = 60;
  rows = 20;
  now = 0;
  isBehind = false;
  /** Whether entries come in faster than they are drawn. */
  isHeld = false;
  readonly feed: TranscriptFeed;
  #seq = 0;

  /** A frame has as much time as it needs, unless a `timer` says otherwise. */
  constructor(isAnimated = false, timer = () => 0, timelineBytes?: number) {
    this.view = createView({ timelineBytes });
    const options = { paint: plain, cwd: "/project", marks: unicodeMarks, isAnimated, timer };
    this.feed = new TranscriptFeed({ ...options, clock: () => 1_000 + this.now });
    this.draw();
  }

  add(...bodies: readonly object[]): this {
    for (const body of bodies) {
      this.#seq += 1;
      // the bodies of tests are those of entries
      applyEntry(this.view, { format: 1, seq: this.#seq, time: 1_000, ...body } as unknown as Entry);
    }
    return this.draw();
  }

  update(...updates: readonly (SessionUpdate | object)[]): this {
    return this.add(...updates.map((update) => ({ kind: "update", update })));
  }

  say(value: string, messageId = "m"): this {
    return this.update(chunk(value, messageId));
  }

  call(toolCallId: string, fields: object): this {
    return this.update({ sessionUpdate: "tool_call_update", toolCallId, ...fields });
  }

  draw(): this {
    if (this.isHeld) return this;
    const { width, rows, now } = this;
    const { printed, tail, isBehind } = this.feed.update(this.view, { width, rows, now });
    this.printed.push(...printed);
    this.tail = tail;
    this.isBehind = isBehind;
    return this;
  }

  end(stopReason = "end_turn", changed?: { files: number; added: number; removed: number }): this {
    const result = { stopReason } as TurnSummary["result"]; // an agent may send any reason
    const summary = {
      result,
      durationMs: 12_300,
      ...(changed === undefined ? {} : { changed }),
    };
    this.printed.push(...this.feed.turnEnded(this.view, summary, this.width));
    return this.draw();
  }

  is(printed: readonly string[], tail: readonly string[]): void {
    assert.deepEqual({ printed: this.printed, tail: this.tail }, { printed, tail });
  }
}

export const chunk = (value: string, messageId = "m") => ({
  sessionUpdate: "agent_message_chunk",
  messageId,
  content: text(value),
});
