// A permission question as lines: what, why, the command or the change once, and the answers without a letter.

import { relative } from "node:path";
import { gitPatch } from "@parley/acp/internal";
import { commandText, shownSource, summaryOf } from "@parley/client/internal";
import type { PermissionChoice, PermissionQuestion, Subject } from "@parley/client/policy";
import { wholePatchLines } from "../draw/patch-text.ts";
import type { Paint } from "../terminal/paint.ts";
import { escapedLine, escapedSource } from "../terminal/sanitise.ts";
import { isEditable, listed } from "./permission-answers.ts";

const shownDiffLines = 60;
const shownOptions = 20;

/** Where the question is asked: who asks, and in which directory. */
export interface QuestionPlace {
  readonly agent: string;
  readonly cwd: string;
}

/** What is asked, and why. Nothing that an agent wrote is left out: it is shown by its code points where it must be. */
export function questionLines(
  question: PermissionQuestion,
  place: QuestionPlace,
  paint: Paint,
  mostDiffLines = shownDiffLines,
): string[] {
  const { reason, subjects, always } = question;
  const isSeveral = subjects.length > 1;
  // of something that is asked every time no more can be asked for
  const most = always ? Number.POSITIVE_INFINITY : mostDiffLines;
  return [
    `${paint("warning", "?")} ${paint("strong", heading(question, place.agent))}`,
    paint("dim", `  ${escapedLine(reason)}${always ? "; this is asked every time" : ""}`),
    ...subjects.flatMap((subject) => subjectLines(subject, question, isSeveral, paint)),
    ...shownPatch(changeLines(question, place, paint), most),
    ...numbered(question.choices, ({ isExtra }) => !isExtra, paint),
  ];
}

/** Who does it: what an agent only says that it will do nobody can hold it to. */
function heading({ summary, subjects }: PermissionQuestion, agent: string): string {
  const [first, another] = subjects;
  const isCommands = subjects.length > 0 && subjects.every((subject) => commandText(subject) !== undefined);
  const where = first?.cwd === undefined || another !== undefined ? "" : ` in ${first.cwd}`;
  const commands = subjects.length === 1 ? "a command" : `${subjects.length} commands`;
  const things = another === undefined ? summary : `do ${subjects.length} things`;
  const what = escapedLine(isCommands ? `run ${commands}${where}` : things);
  const who = escapedLine(agent);
  return first?.origin === "claim" ? `${who} wants to ${what}` : `${what}, for ${who}`;
}

/** The heading says what one thing is; of several each has its lines, and where each command runs. */
function subjectLines(
  subject: Subject,
  { env = subject.env ?? {} }: PermissionQuestion,
  isSeveral: boolean,
  paint: Paint,
): string[] {
  const command = commandText(subject);
  if (command === undefined) return isSeveral ? [`  ${escapedLine(summaryOf(subject))}`] : [];
  return [
    ...(isSeveral ? [`  in ${escapedLine(shownSource(subject.cwd ?? "a folder that is not named"))}`] : []),
    ...variableLines(env, subject.env ?? {}, paint),
    ...shownSource(escapedSource(command))
      .split("\n")
      .map((line) => `    ${line}`),
  ];
}

/** Before the command and in full, those first that can make it do something else. */
function variableLines(
  env: NonNullable<PermissionQuestion["env"]>,
  notable: NonNullable<Subject["env"]>,
  paint: Paint,
): string[] {
  const rank = ([name]: [string, string]): number => (Object.hasOwn(notable, name) ? 0 : 1);
  const sorted = Object.entries(env).sort((one, other) => rank(one) - rank(other));
  return sorted.map(
    ([name, value]) => `  ${paint("warning", "with")} ${shownSource(escapedLine(`${name}=${value}`))}`,
  );
}

function changeLines(
  { diff, moreDiffs = [], patch = "", subjects }: PermissionQuestion,
  { cwd }: QuestionPlace,
  paint: Paint,
): string[] {
  const patches = [...(diff === undefined ? [] : [diff]), ...moreDiffs].map(({ path, oldText, newText }) =>
    gitPatch(nearPath(path, cwd), oldText, newText),
  );
  const [only = "", another] = patches;
  // the heading names one file
  const own = another === undefined ? [only.slice(Math.max(0, only.search(/^@@ /m)))] : patches;
  const all = patches.length === 0 ? [nearHeaders(withoutHeading(patch, subjects), cwd)] : own;
  return all
    .filter((each) => each !== "")
    .flatMap((each) => wholePatchLines(shownSource(each), paint))
    .map((line) => `    ${line}`);
}

/** Relative to the directory of the session, if it is inside. */
function nearPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === "" || /^\.\.(?:[\\/]|$)/.test(near) ? path : near;
}

/** Without the lines that only repeat the file of the heading. Other names and modes are shown. */
function withoutHeading(patch: string, [subject, another]: readonly Subject[]): string {
  if (subject?.path === undefined || another !== undefined) return patch;
  const { path } = subject;
  const start = `diff --git ${path} ${path}\n`;
  const headings = [
    `${start}--- ${path}\n+++ ${path}\n@@ `,
    `${start}new file mode 100644\n--- /dev/null\n+++ ${path}\n@@ `,
  ];
  const repeated = headings.find((heading) => patch.startsWith(heading));
  return repeated === undefined ? patch : patch.slice(repeated.length - "@@ ".length);
}

/** The same in the lines of a patch that name a file. What the patch changes stays as it is. */
function nearHeaders(patch: string, cwd: string): string {
  let isHeader = true;
  const lines = patch.split("\n").map((line) => {
    if (line.startsWith("@@ ")) isHeader = false;
    else if (line.startsWith("diff --git ")) isHeader = true;
    if (!isHeader) return line;
    // git writes a and b before a name
    return line.replaceAll(` ${cwd}/`, " ").replaceAll(` a${cwd}/`, " a/").replaceAll(` b${cwd}/`, " b/");
  });
  return lines.join("\n");
}

function shownPatch(lines: readonly string[], most: number): string[] {
  const rest = lines.length - most;
  return [...lines.slice(0, most), ...(rest > 0 ? [`    … ${rest} more lines; type ? to see all`] : [])];
}

/** The rest of a long change, the agent's own words, and the answers that are rarely wanted. */
export function moreLines(
  question: PermissionQuestion,
  place: QuestionPlace,
  paint: Paint,
  mostDiffLines = shownDiffLines,
): string[] {
  const { claimed, choices } = question;
  const all = mostDiffLines === Number.POSITIVE_INFINITY ? [] : changeLines(question, place, paint);
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
