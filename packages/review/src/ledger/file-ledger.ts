// The history of one file in a review: who changed what, line by line where it is text, as a whole where it is not.

import { absent, type BytePath, type Hash, isSameVersion, type Version } from "../files/version.ts";
import { Flag, type LineEvent, newEvent, Weave } from "../text/weave.ts";

/** A file of lines, or none: whether it is there, whether it can be run, its lines. */
export interface TextBody {
  readonly type: "text";
  readonly exists: Flag;
  readonly isExecutable: Flag;
  readonly weave: Weave;
}

/** Something that has no lines. */
export interface WholeBody {
  readonly type: "whole";
  readonly version: Version;
}

export type Body = TextBody | WholeBody;

/** A change of something that has no lines, or to something that has none. */
export interface WholeChange {
  readonly event: LineEvent;
  readonly before: Body;
  readonly after: Body;
}

export class FileLedger {
  readonly root: string;
  readonly path: BytePath;
  readonly hash: Hash;
  body: Body;
  readonly wholeChanges: WholeChange[] = [];
  /** Whether it was changed since it was stored. */
  isUnsaved = true;

  constructor(root: string, path: BytePath, hash: Hash, first: Version) {
    this.root = root;
    this.path = path;
    this.hash = hash;
    this.body = bodyOf(first);
  }

  /** Whether something of the agent in it is neither kept nor undone. */
  get isOpen(): boolean {
    const { body } = this;
    const isOpen = ({ turn, state }: LineEvent) => turn > 0 && state === "open";
    if (this.wholeChanges.some(({ event }) => isOpen(event))) return true;
    if (body.type === "whole") return false;
    const entries = [body.exists.entry, body.isExecutable.entry, ...body.weave.entries];
    return entries.some(({ events }) => events.some(isOpen));
  }

  /** Records what the file is now, and whose change that is: 0 is the user. */
  record(version: Version, epoch: number, turn: number): void {
    const { body } = this;
    if (isSameVersion(versionOfBody(body), version)) return;
    this.isUnsaved = true;
    if (body.type === "text" && (version.type === "text" || version.type === "absent")) {
      body.exists.set(version.type === "text", epoch, turn);
      // a file that is gone keeps its permission for the day it comes back
      if (version.type === "text") body.isExecutable.set(version.isExecutable, epoch, turn);
      body.weave.record(version.type === "text" ? version.lines : [], epoch, turn);
      return;
    }
    const after = bodyOf(version);
    this.wholeChanges.push({ event: newEvent(epoch, turn, true), before: body, after });
    this.body = after;
  }
}

function bodyOf(version: Version): Body {
  if (version.type !== "text" && version.type !== "absent") return { type: "whole", version };
  const isText = version.type === "text";
  return {
    type: "text",
    exists: new Flag(isText),
    isExecutable: new Flag(isText && version.isExecutable),
    weave: new Weave(isText ? version.lines : []),
  };
}

/** The file as it is according to its history. */
export function versionOfBody(body: Body): Version {
  if (body.type === "whole") return body.version;
  if (!body.exists.isSet) return absent;
  return { type: "text", isExecutable: body.isExecutable.isSet, lines: body.weave.lines() };
}
