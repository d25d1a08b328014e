// A permission question as lines: what, why, the command or the change once, and the answers without a letter.

import { relative } from "node:path";
import { gitPatch } from "@parley/acp/view";
import {
  commandText,
  type PermissionChoice,
  type RuleSubject,
  type ShownPermission,
  shownSource,
  summaryOf,
} from "@parley/client/policy";
import { diffLines } from "../draw/diff-lines.ts";
import { drawing } from "../draw/draw-options.ts";
import { deleted, patchRows } from "../draw/patch-rows.ts";
import { nearFolder, nearText } from "../terminal/near-text.ts";
import type { Paint } from "../terminal/paint.ts";
import { escapedLine, escapedSource } from "../terminal/sanitise.ts";
import { isEditable, listed, type QuestionSource } from "./permission-answers.ts";

const shownDiffLines = 60;
const shownOptions = 20;

/** How much room there is: columns (default: lines are not wrapped) and lines of a change (default 60). */
export interface QuestionRoom {
  readonly columns?: number;
  readonly most?: number;
}

/** What is asked, and why. Nothing that an agent wrote is left out: it is shown by its code points where it must be. */
export function questionLines(
  question: ShownPermission,
  source: QuestionSource,
  paint: Paint,
  { columns = Number.POSITIVE_INFINITY, most: mostDiffLines = shownDiffLines }: QuestionRoom = {},
): string[] {
  const { reason, isAlwaysAsked: always } = question;
  const subjects = shownSubjects(question);
  const isSeveral = subjects.length > 1;
  // of something that is asked every time no more can be asked for
  const most = always ? Number.POSITIVE_INFINITY : mostDiffLines;
  return [
    `${paint("warning", "?")} ${paint("strong", heading(question, source))}`,
    paint(
      "dim",
      `  ${nearText(escapedLine(reason), source.cwd)}${always ? "; this is asked every time" : ""}`,
    ),
    ...subjects.flatMap((subject) => subjectLines(subject, question, isSeveral, source, paint)),
    ...shownPatch(changeLines(question, source, columns, paint), most),
    ...numbered(question.choices, ({ isExtra }) => !isExtra, paint),
  ];
}

/** To delete a file is to write it, too. */
function shownSubjects({ subjects }: ShownPermission): readonly RuleSubject[] {
  const gone = new Set(
    subjects.flatMap(({ deletes, path }) => (deletes && path !== undefined ? [path] : [])),
  );
  return subjects.filter(
    ({ operation, deletes, path }) => operation !== "write" || deletes || !gone.has(path ?? ""),
  );
}

/** Who does it: what an agent only says that it will do nobody can hold it to. */
function heading(question: ShownPermission, { agent, cwd }: QuestionSource): string {
  const { summary } = question;
  const subjects = shownSubjects(question);
  const [first, another] = subjects;
  const isCommands = subjects.length > 0 && subjects.every((subject) => commandText(subject) !== undefined);
  const folder = first?.cwd === undefined || another !== undefined ? undefined : nearFolder(first.cwd, cwd);
  const where = folder === undefined ? "" : ` in ${folder}`;
  const commands = subjects.length === 1 ? "a command" : `${subjects.length} commands`;
  const isAll = subjects.length === question.subjects.length;
  const one = first === undefined || isAll ? summary : summaryOf(first);
  const things = another === undefined ? nearText(one, cwd) : `do ${subjects.length} things`;
  const what = escapedLine(isCommands ? `run ${commands}${where}` : things);
  const who = escapedLine(agent);
  return first?.origin === "claim" ? `${who} wants to ${what}` : `${what}, for ${who}`;
}

/** The heading says what one thing is; of several each has its lines, and where each command runs. */
function subjectLines(
  subject: RuleSubject,
  { env = subject.env ?? {} }: ShownPermission,
  isSeveral: boolean,
  { cwd }: QuestionSource,
  paint: Paint,
): string[] {
  const command = commandText(subject);
  if (command === undefined) return isSeveral ? [`  ${nearText(escapedLine(summaryOf(subject)), cwd)}`] : [];
  const folder =
    subject.cwd === undefined
      ? "a folder that is not named"
      : (nearFolder(subject.cwd, cwd) ?? "this folder");
  return [
    ...(isSeveral ? [`  in ${escapedLine(shownSource(folder))}`] : []),
    ...variableLines(env, subject.env ?? {}, paint),
    ...shownSource(escapedSource(command))
      .split("\n")
      .map((line) => `    ${line}`),
  ];
}

/** Before the command and in full, those first that can make it do something else. */
function variableLines(
  env: NonNullable<ShownPermission["env"]>,
  notable: NonNullable<RuleSubject["env"]>,
  paint: Paint,
): string[] {
  const rank = ([name]: [string, string]): number => (Object.hasOwn(notable, name) ? 0 : 1);
  const sorted = Object.entries(env).sort((one, other) => rank(one) - rank(other));
  return sorted.map(
    ([name, value]) => `  ${paint("warning", "with")} ${shownSource(escapedLine(`${name}=${value}`))}`,
  );
}

/** The lines of the change are indented by four blanks. */
const indent = "    ";

function changeLines(
  question: ShownPermission,
  { cwd }: QuestionSource,
  columns: number,
  paint: Paint,
): string[] {
  const { diff, moreDiffs = [], patch = "" } = question;
  const changes = [...(diff === undefined ? [] : [diff]), ...moreDiffs];
  const texts = changes.map(({ path, oldText, newText }) => gitPatch(nearPath(path, cwd), oldText, newText));
  const patches = changes.length > 0 ? texts : patch === "" ? [] : [patch];
  const rows = patches.map((text) => patchRows(shownSource(text), true));
  const files = rows.flat().filter(({ kind }) => kind === "file");
  const [only, another] = files;
  const [subject, further] = shownSubjects(question);
  const named = further === undefined ? subject?.path : undefined;
  // the heading names one file
  const isHeading =
    changes.length === 1 || (named !== undefined && [named, `${named}${deleted}`].includes(only?.text ?? ""));
  const showsFiles = another !== undefined || !isHeading;
  const width = columns - indent.length;
  return rows
    .flatMap((each, at) => {
      const path = changes[at]?.path ?? files[at]?.text;
      const shown = each.map((row) =>
        row.kind === "file" ? { ...row, text: nearText(row.text, cwd) } : row,
      );
      return diffLines(shown, { path, showsFiles }, drawing({ width, paint, cwd, isExpanded: true }));
    })
    .map((line) => `${indent}${line}`);
}

/** Relative to the directory of the session, if it is inside. */
function nearPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === "" || /^\.\.(?:[\\/]|$)/.test(near) ? path : near;
}

function shownPatch(lines: readonly string[], most: number): string[] {
  const rest = lines.length - most;
  return [...lines.slice(0, most), ...(rest > 0 ? [`    … ${rest} more lines; type ? to see all`] : [])];
}

/** The rest of a long change, the agent's own words, and the answers that are rarely wanted. */
export function moreLines(
  question: ShownPermission,
  source: QuestionSource,
  paint: Paint,
  { columns = Number.POSITIVE_INFINITY, most: mostDiffLines = shownDiffLines }: QuestionRoom = {},
): string[] {
  const { claimed, choices } = question;
  const all = mostDiffLines === Number.POSITIVE_INFINITY ? [] : changeLines(question, source, columns, paint);
  const extras = numbered(choices, ({ isExtra }) => isExtra === true, paint);
  return [
    ...(all.length > mostDiffLines ? all : []),
    ...(claimed === undefined ? [] : [`  the agent's title: ${escapedLine(claimed.title)}`]),
    ...(claimed?.description === undefined ? [] : [`  the agent says: ${escapedLine(claimed.description)}`]),
    ...(extras.length === 0 ? [] : ["  other answers (type the number):"]),
    ...extras,
    ...(isEditable(question) ? ["  r  allow in this folder for 30 days, with a rule that you edit"] : []),
  ];
}

function numbered(
  choices: readonly PermissionChoice[],
  isWanted: (choice: PermissionChoice) => boolean,
  paint: Paint,
): string[] {
  const all = listed(choices);
  const lines = all.flatMap((choice, at) => {
    const number = String(at + 1).padStart(String(all.length).length);
    return isWanted(choice) ? [`  ${number}  ${choiceLine(choice, paint)}`] : [];
  });
  const hidden = lines.length - shownOptions;
  return [
    ...lines.slice(0, shownOptions),
    ...(hidden > 0 ? [`  … and ${hidden} more; type the number, name or id`] : []),
  ];
}

/** An agent may call a yes "No", or two options the same: what its own options mean is said beside them. */
function choiceLine({ id, name, effect, scope }: PermissionChoice, paint: Paint): string {
  if (!id.startsWith("option:")) return escapedLine(name);
  const meaning = `${effect === "allow" ? "allows" : "refuses"} it${scope === "once" ? "" : " for this session"}`;
  return `${escapedLine(name)} ${paint("dim", `(option of the agent: ${meaning})`)}`;
}
