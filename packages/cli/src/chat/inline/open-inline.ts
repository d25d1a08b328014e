// Opens the conversation on the screen of this process, and ends with it.

import { sleep } from "@parley/acp/jsonrpc";
import { openScreen } from "../../screen/open-screen.ts";
import { painter, type ThemeName } from "../../terminal/paint.ts";
import type { Conversations } from "../conversation/conversations.ts";
import { ChatFace, type ChatFaceOptions } from "./chat-face.ts";

export interface InlineOptions {
  readonly theme?: ThemeName;
  readonly isAnimated: boolean;
  /** Whether the wheel scrolls on the whole screen. */
  readonly hasMouse: boolean;
  readonly notifies: boolean;
  /** The command of the user's editor. Default: `$VISUAL`, `$EDITOR`, else vi. */
  readonly editor?: string;
  readonly review?: ChatFaceOptions["review"];
  /** Aborts when the conversation must end. */
  readonly ending: AbortSignal;
}

/** Resolves when the user has left. The conversation is still open then. */
export async function showInline(conversation: Conversations, options: InlineOptions): Promise<void> {
  const { theme, isAnimated, notifies, review, ending } = options;
  const { VISUAL: visual, EDITOR: chosen } = process.env;
  const editor = [options.editor, visual, chosen, "vi"].find(
    (each) => each !== undefined && each.trim() !== "",
  );
  const screen = openScreen({ hasMouse: options.hasMouse });
  const paint = painter(true, process.env, theme);
  try {
    const face = new ChatFace({
      screen,
      conversation,
      paint,
      ...(theme && { theme }),
      isAnimated,
      notifies,
      editor: editor ?? "vi",
      ...(review && { review }),
    });
    loadColours(conversation, face);
    await Promise.race([face.left, sleep(Number.POSITIVE_INFINITY, ending)]);
    face.leave();
  } finally {
    screen.close();
  }
}

/** Colours of code and emulated terminals come when the agent is there: its start goes first. */
function loadColours(conversation: Conversations, face: ChatFace): void {
  const remove = conversation.onEvent(({ session }) => {
    if (session.phase === "starting") return;
    remove();
    import("../../draw/load-drawing.ts")
      .then(({ loadDrawing }) => loadDrawing())
      .then(
        () => face.redraw(),
        () => undefined,
      );
  });
}
