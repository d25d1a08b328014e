// Orders the parts of a view by their last change, at a cost that does not depend on the session's length.

import type { Changed } from "./session-view.ts";

interface Node {
  readonly thing: Changed;
  older: Node | undefined;
  newer: Node | undefined;
}

export class ChangeList {
  readonly #nodes = new Map<Changed, Node>();
  #newest: Node | undefined;

  touch(thing: Changed): void {
    // streams change the same thing repeatedly
    if (this.#newest?.thing === thing) return;
    let node = this.#nodes.get(thing);
    if (node === undefined) {
      node = { thing, older: undefined, newer: undefined };
      this.#nodes.set(thing, node);
    } else {
      this.#unlink(node);
    }
    node.older = this.#newest;
    node.newer = undefined;
    if (this.#newest !== undefined) this.#newest.newer = node;
    this.#newest = node;
  }

  forget(thing: Changed): void {
    const node = this.#nodes.get(thing);
    if (node === undefined) return;
    this.#nodes.delete(thing);
    this.#unlink(node);
  }

  /** Returns what changed after that version, least recent first. */
  since(version: number): Changed[] {
    const found: Changed[] = [];
    for (let node = this.#newest; node !== undefined && node.thing.version > version; node = node.older) {
      found.push(node.thing);
    }
    return found.reverse();
  }

  #unlink(node: Node): void {
    if (node.newer !== undefined) node.newer.older = node.older;
    else this.#newest = node.older;
    if (node.older !== undefined) node.older.newer = node.newer;
  }
}
