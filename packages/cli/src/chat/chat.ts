// `parley chat`: a conversation with agents at the terminal.

import { type Invocation, usageError } from "../command/command.ts";
import { type LiveOptions, liveOptions, secretsOf } from "../live/live-options.ts";
import { type ChatConfig, readChatConfig } from "../settings/chat-config.ts";
import { themeNames } from "../terminal/paint.ts";
import { startConversations } from "./conversation/start-conversations.ts";
import { watchEnding } from "./ending.ts";
import { loadFace } from "./open-face.ts";
import { SessionReview } from "./review/session-review.ts";

const help = "see parley help chat";

export async function chat(invocation: Invocation): Promise<number> {
  const options = { ...(await liveOptions(invocation, help)), beginsAnyway: true };
  const prompt = invocation.words.join(" ");
  const theme = themeGiven(invocation.values["theme"]);
  return converse(options, { prompt, isPlain: invocation.values["plain"] === true, theme });
}

/** `parley resume`. The name of a session has no space. */
export async function resume({ words, values, ...rest }: Invocation): Promise<number> {
  const [name, ...prompt] = words;
  if (name === undefined || /\s/.test(name))
    return chat({ ...rest, words, values: { ...values, continue: true } });
  return chat({ ...rest, words: prompt, values: { ...values, session: name, resume: true } });
}

export interface ConverseOptions {
  /** Sent at once unless it is empty. */
  readonly prompt: string;
  readonly isPlain: boolean;
  /** Instead of that of the config file. */
  readonly theme?: string | undefined;
}

/** Returns the exit code. */
export async function converse(
  options: LiveOptions,
  { prompt, isPlain: isPlainGiven, theme }: ConverseOptions,
): Promise<number> {
  const configured = await readChatConfig();
  const config = theme === undefined ? configured : { ...configured, theme };
  const isPlain = isPlainGiven || isPlainWanted(config);
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (!isPlain && !isTerminal)
    throw usageError(
      "chat needs a terminal for both input and output",
      'send one prompt with parley run "what to do", or use --plain to read prompts from a pipe, one per line',
    );
  const ending = watchEnding();
  const reviews = new Map<string, SessionReview>();
  // before the conversation, whose agent starts after the first paint
  const show = await loadFace({
    isPlain,
    config,
    review: ({ key }) => reviews.get(key),
    ending: ending.signal,
    again: options.frontWords ?? [],
  });
  const conversation = startConversations({
    options,
    secrets: secretsOf(options),
    changes: (session) => {
      const review = new SessionReview(session);
      reviews.set(session.key, review);
      return review;
    },
  });
  conversation.onEvent(({ kind, session }) => {
    const review = reviews.get(session.key);
    if (kind === "entries") review?.observe(session.view);
    // the session may be opened again, here or in another process
    if (kind === "state" && session.phase === "closed") void review?.close();
  });
  try {
    if (prompt !== "") conversation.current.send({ text: prompt });
    const exitCode = await show(conversation);
    return ending.signal.aborted ? ending.exitCode : exitCode;
  } finally {
    await conversation.close();
    await Promise.all([...reviews.values()].map((review) => review.close()));
    ending.dispose();
  }
}

/** The environment, then the config file. A dumb terminal can do nothing else. */
function isPlainWanted({ plain = false }: ChatConfig): boolean {
  if (process.env["TERM"] === "dumb") return true;
  const { PARLEY_PLAIN: given } = process.env;
  return given === undefined || given === "" ? plain : given !== "0";
}

function themeGiven(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  const theme = themeNames.find((name) => name === given);
  if (theme === undefined)
    throw usageError(`--theme ${String(given)}: there is no such theme`, `use ${themeNames.join(", ")}`);
  return theme;
}
