// `parley chat`: a conversation with agents at the terminal.

import { type Invocation, usageError } from "../command/command.ts";
import { type LiveOptions, liveOptions, secretsOf } from "../live/live-options.ts";
import { readConfig } from "../settings/config-file.ts";
import { startConversation } from "./conversation/chat-conversation.ts";
import { loadFace } from "./open-face.ts";
import { SessionReviews } from "./review/session-reviews.ts";

const help = "see parley help chat";

export async function chat(invocation: Invocation): Promise<number> {
  const options = await liveOptions(invocation, help);
  return converse(options, {
    prompt: invocation.words.join(" "),
    isPlain: isPlainWanted(invocation.values["plain"] === true),
  });
}

/** Returns the exit code. */
export async function converse(
  options: LiveOptions,
  { prompt, isPlain }: { readonly prompt: string; readonly isPlain: boolean },
): Promise<number> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (!isPlain && !isTerminal)
    throw usageError(
      "chat needs a terminal for both input and output",
      'send one prompt with parley run "what to do", or use --plain to read prompts from a pipe, one per line',
    );
  const reviews = new SessionReviews();
  // before the conversation, whose agent starts after the first paint
  const show = await loadFace({ isPlain, reviews });
  const conversation = startConversation({ options, secrets: secretsOf(options), changes: reviews.follow });
  reviews.watch(conversation);
  try {
    if (prompt !== "") conversation.current.send({ text: prompt });
    return await show(conversation);
  } finally {
    await conversation.close();
    await reviews.close();
  }
}

/** The flag, then the environment, then the config file. A dumb terminal can do nothing else. */
export function isPlainWanted(flag: boolean | undefined): boolean {
  if (flag === true || process.env["TERM"] === "dumb") return true;
  const { PARLEY_PLAIN: given } = process.env;
  if (given !== undefined && given !== "") return given !== "0";
  return readConfig(() => undefined).chat?.plain ?? false;
}
