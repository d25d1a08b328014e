// Runs the slash commands that the agent answers without a model.

import type { Model } from "../model/model.ts";
import { usages } from "../offline/request-script.ts";
import type { LocalCommand } from "./commands.ts";
import { compact } from "./compaction.ts";
import { modelOf, modeOf, setModel } from "./options.ts";
import type { CodingTurn, Prefix } from "./session-state.ts";
import type { UndoAnswer } from "./undo.ts";

export interface LocalCommandOptions {
  readonly turn: CodingTurn;
  readonly models: readonly [Model, ...Model[]];
  /** Whether the offline model is chosen. */
  readonly isOffline: boolean;
  /** What every request begins with. */
  prefix(): Promise<Prefix>;
}

export async function runLocalCommand(
  command: LocalCommand,
  argument: string,
  options: LocalCommandOptions,
): Promise<void> {
  const answers = { help, clear, compact: compactNow, model: chooseModel, permissions, undo, redo };
  await options.turn.say(await answers[command](options, argument));
}

function clear({ turn }: LocalCommandOptions): string {
  const { data } = turn.session;
  data.transcript.clear();
  data.renew();
  return "I have forgotten the conversation so far. Files and remembered answers are unchanged.";
}

function help({ turn: { session }, isOffline }: LocalCommandOptions): string {
  const mode = modeOf(session);
  const commands = session.data
    .commands(mode)
    .map(({ name, description }) => `- \`/${name}\` ${description}`);
  const model = isOffline
    ? `The model is offline. It understands fixed commands: ${usages}, and several joined with \`then\`. Choose another model with \`/model\`, or see \`parley help agent\`.`
    : "Tell me what you want done, in your own words.";
  return [`I am Parley, a coding agent, in mode ${mode}.`, model, "", ...commands].join("\n");
}

async function compactNow(options: LocalCommandOptions, focus: string): Promise<string> {
  const { turn, models } = options;
  if (turn.session.data.transcript.isEmpty) return nothingLeft;
  const model = modelOf(turn.session, models);
  const prefix = await options.prefix();
  const end = await compact({ turn, model, prefix, isWhole: true, ...(focus !== "" && { focus }) });
  if (end === "failed")
    return "The conversation could not be summarised and stays unchanged. Try again later.";
  return end === "done"
    ? "The conversation was replaced by a summary. Your own messages are kept."
    : nothingLeft;
}

const nothingLeft = "There is nothing to summarise yet.";

function chooseModel({ turn, models }: LocalCommandOptions, id: string): string {
  const { session } = turn;
  const list = models.map(({ facts }) => {
    const mark = facts.id === modelOf(session, models).facts.id ? " (chosen)" : "";
    return `- \`${facts.id}\` ${facts.name}${mark}`;
  });
  if (id === "") return ["Models:", ...list].join("\n");
  const found = models.find(({ facts }) => facts.id === id);
  if (found === undefined) return [`There is no model \`${id}\`. The models are:`, ...list].join("\n");
  setModel(session, models, id, session.data.effort);
  return `The model is now ${found.facts.name}.`;
}

async function undo(options: LocalCommandOptions): Promise<string> {
  return told(options, await options.turn.session.data.undo.undo());
}

async function redo(options: LocalCommandOptions): Promise<string> {
  return told(options, await options.turn.session.data.undo.redo());
}

/** The model hears of it with the next message. */
function told({ turn }: LocalCommandOptions, { text, note }: UndoAnswer): string {
  const { transcript } = turn.session.data;
  if (note !== undefined && !transcript.isEmpty) transcript.addNote(note);
  return text;
}

function permissions({ turn }: LocalCommandOptions, argument: string): string {
  const { grants } = turn.session.data;
  if (argument === "clear") {
    grants.clear();
    return "All remembered answers are deleted. You will be asked again.";
  }
  const lines = grants
    .list()
    .map(({ subject, allows }) => `- ${allows ? "always" : "never"}: \`${subject}\``);
  if (lines.length === 0)
    return "No answers are remembered: you have not answered a question with always or never.";
  return ["Remembered for this session (`/permissions clear` deletes these answers):", ...lines].join("\n");
}
