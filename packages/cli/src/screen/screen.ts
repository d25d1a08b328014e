// The interface of a screen: finished lines, a tail that is redrawn, keys, and the alternate screen.

import type { KeyPress } from "./key-press.ts";
import type { Tail } from "./tail-writer.ts";

/**
 * A tail, or what makes it: called once per frame, however often it was given. It may print. A frame that shows a key is
 * drawn before it is due: only what the user types needs to be new in it, and the next one comes when it is due.
 */
export type Drawn = Tail | ((isEarly: boolean) => Tail);

/** The alternate screen: it covers everything, and what was there comes back when it is closed. */
export interface FullScreen {
  /** Replaces all rows. Lines beyond the last row are not shown. */
  draw(tail: Drawn): void;
  close(): void;
}

/** A terminal in which a program talks with its user. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  /** Whether the window has the focus, where the terminal tells. */
  readonly isFocused: boolean;
  /** Writes finished lines above the tail. They belong to the scrollback of the terminal then. */
  print(lines: readonly string[]): void;
  /** Replaces the tail. Its last lines are shown if it has more than the terminal has rows. */
  draw(tail: Drawn): void;
  /** Returns a function that removes the listener. */
  onKey(listener: (key: KeyPress) => void): () => void;
  /** Called when the size has changed; the tail must be drawn again. Returns a function that removes the listener. */
  onResize(listener: () => void): () => void;
  fullScreen(): FullScreen;
  /** Gives the terminal to another program, and takes it back. Keys go to the program meanwhile. */
  suspend<T>(work: () => Promise<T>): Promise<T>;
  /** Sets the title of the window. */
  title(text: string): void;
  bell(): void;
  /** Shows a notice of the desktop, where the terminal can. */
  notify(text: string): void;
  /** Copies text to the clipboard of the user, over ssh too. */
  copy(text: string): void;
  /** Writes the tail again, such as after another program has written to the terminal. */
  refresh(): void;
  /** Writes now what is due with the next frame. */
  flush(): void;
  /** Leaves the terminal as it was, below the last finished line. */
  close(): void;
}
