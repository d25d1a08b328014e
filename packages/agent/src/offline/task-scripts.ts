// Carries out each kind of task with the agent's tools.

import { optional } from "@parley/acp/internal";
import { count, describeFile } from "./describe-file.ts";
import type { Intent } from "./intents.ts";
import { type CallResult, call, callResult, fenced, type Script } from "./script.ts";

/** The result, with the text for the user. */
export interface Done {
  readonly isError: boolean;
  readonly words: string;
}

const maxShownLines = 40;

export function taskScript(intent: Intent): Script<Done> {
  switch (intent.type) {
    case "look":
      return look(intent.path);
    case "read":
      return read(intent);
    case "explain":
      return explain(intent);
    case "search":
      return search(intent.pattern, intent.path);
    case "find":
      return find(intent.pattern);
    case "create":
      return create(intent.path, intent.content);
    case "append":
      return append(intent.path, intent.text);
    case "replace":
      return replace(intent);
    case "delete":
      return simple("delete", { path: intent.path }, `Deleted \`${intent.path}\`.`);
    case "move":
      return simple(
        "move",
        { from: intent.from, to: intent.to },
        `Moved \`${intent.from}\` to \`${intent.to}\`.`,
      );
    case "run":
      return run(intent.command);
    case "test":
      return test(intent.which);
    case "fetch":
      return fetchPage(intent.url);
    case "stop":
      return sayOnly("I have stopped.");
    case "greet":
    case "unknown":
      return sayOnly("");
  }
}

// biome-ignore lint/correctness/useYield: a script without a step
function* sayOnly(words: string): Script<Done> {
  return done(words);
}

function done(words: string): Done {
  return { isError: false, words };
}

function failed(what: string, { text }: CallResult): Done {
  // advice for a model is not for the user
  if (text.startsWith("The user rejected this call"))
    return { isError: true, words: "You said no, so I did not do it." };
  return { isError: true, words: `${what}: ${text}` };
}

function* simple(name: string, input: Readonly<Record<string, unknown>>, words: string): Script<Done> {
  const result = yield* call(name, input);
  return result.isError ? failed("That did not work", result) : done(words);
}

function* look(path: string): Script<Done> {
  const think = path === "." ? "First I will look at the files of the project." : `I will look at ${path}.`;
  const listed = yield* call("list", { path }, think);
  if (listed.isError) return failed(`I cannot list \`${path}\``, listed);
  const parts = [`In \`${path}\`:`, fenced(excerpt(listed.text))];
  const names = ["README.md", "package.json"].filter((name) =>
    new RegExp(`(^|[\\s/])${name}\\b`, "m").test(listed.text),
  );
  if (path !== "." || names.length === 0) return done(parts.join("\n"));
  const calls = names.map((name) => ({ name: "read", input: { path: name } }));
  const outcomes = yield { think: "The project's own files should say what it is about.", calls };
  for (const [i, name] of names.entries()) {
    const { isError, text } = callResult(outcomes[i]);
    if (!isError) parts.push("", name === "package.json" ? packageFacts(text) : readmeFacts(text));
  }
  return done(parts.filter((part, i) => part !== "" || i > 0).join("\n"));
}

function readmeFacts(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  const title = lines.find((line) => line.startsWith("#"))?.replace(/^#+\s*/, "") ?? "The README";
  const first = lines.find((line) => /^[A-Za-z]/.test(line)) ?? "";
  return `**${title}**${first === "" ? "" : `: ${first}`}`;
}

function packageFacts(text: string): string {
  try {
    const { name, scripts } = JSON.parse(text) as { name?: unknown; scripts?: object };
    const names = Object.keys(scripts ?? {});
    const list =
      names.length === 0 ? "" : ` with the scripts ${names.map((each) => `\`${each}\``).join(", ")}`;
    return `An npm package${typeof name === "string" ? ` \`${name}\`` : ""}${list}.`;
  } catch {
    return "A package.json that is not valid JSON.";
  }
}

function linesToRead({ path, from, to }: { path: string; from?: number; to?: number }) {
  const limit = from !== undefined && to !== undefined ? Math.max(1, to - from + 1) : undefined;
  return { path, ...optional({ offset: from, limit }) };
}

function* read(intent: Extract<Intent, { type: "read" }>): Script<Done> {
  const { path } = intent;
  const result = yield* call("read", linesToRead(intent));
  if (result.isError) return failed(`I cannot read \`${path}\``, result);
  return done(`\`${path}\`:\n${fenced(excerpt(result.text))}`);
}

function* explain(intent: Extract<Intent, { type: "explain" }>): Script<Done> {
  const { path, from, to = from } = intent;
  const input = linesToRead({ path, ...optional({ from, to }) });
  const result = yield* call("read", input, `To say what is in ${path} I have to read it.`);
  if (result.isError) return failed(`I cannot read \`${path}\``, result);
  if (from === undefined) return done(describeFile(path, result.text));
  const which = to === from ? `Line ${from}` : `Lines ${from} to ${to}`;
  return done(`${which} of \`${path}\`:\n${fenced(excerpt(result.text))}`);
}

function* search(pattern: string, path: string): Script<Done> {
  const result = yield* call("grep", { pattern, path, literal: true }, `I will search for ${pattern}.`);
  if (result.isError) return failed(`I could not search for \`${pattern}\``, result);
  return done(`\`${pattern}\`:\n${fenced(excerpt(result.text))}`);
}

function* find(pattern: string): Script<Done> {
  const result = yield* call("find", { pattern: /[*?/]/.test(pattern) ? pattern : `*${pattern}*` });
  if (result.isError) return failed(`I could not look for \`${pattern}\``, result);
  return done(`Files like \`${pattern}\`:\n${fenced(excerpt(result.text))}`);
}

function* create(path: string, content: string): Script<Done> {
  const text = content === "" || content.endsWith("\n") ? content : `${content}\n`;
  const first = yield* call("write", { path, content: text }, `I will write ${path}.`);
  if (!first.isError) return done(`Wrote \`${path}\`, ${lineCount(text)}.`);
  // an existing file must be read first; the user wants it replaced
  if (!/exists/.test(first.text)) return failed(`I could not write \`${path}\``, first);
  const seen = yield* call("read", { path }, "It exists already, so I will look at it before I replace it.");
  if (seen.isError) return failed(`I cannot read \`${path}\``, seen);
  const second = yield* call("write", { path, content: text });
  if (second.isError) return failed(`I could not write \`${path}\``, second);
  return done(`Replaced \`${path}\`, now ${lineCount(text)}.`);
}

function lineCount(text: string): string {
  return count(text.split("\n").length - 1, "line");
}

function* append(path: string, text: string): Script<Done> {
  const old = yield* call("read", { path }, `I need to see how ${path} ends.`);
  if (old.isError) return yield* create(path, text);
  if (isCut(old.text))
    return failed(`\`${path}\` is too long for me`, { isError: true, text: "use an editor, or a model" });
  const before = /^\[.* is empty\]$/.test(old.text) ? "" : `${old.text.replace(/\n$/, "")}\n`;
  const result = yield* call("write", { path, content: `${before}${text.replace(/\n$/, "")}\n` });
  if (result.isError) return failed(`I could not write \`${path}\``, result);
  return done(`Added it to the end of \`${path}\`.`);
}

function* replace({ path, oldText, newText }: Extract<Intent, { type: "replace" }>): Script<Done> {
  const seen = yield* call("read", { path }, `I will read ${path} before I change it.`);
  if (seen.isError) return failed(`I cannot read \`${path}\``, seen);
  const times = seen.text.split(oldText).length - 1;
  if (times === 0 && !isCut(seen.text)) {
    return { isError: true, words: `There is no \`${oldText}\` in \`${path}\`, so I changed nothing.` };
  }
  const result = yield* call(
    "edit",
    { path, edits: [{ oldText, newText, ...(times > 1 && { replaceAll: true }) }] },
    times > 1 ? `It is there ${times} times; I change all of them at once.` : undefined,
  );
  if (result.isError) return failed(`I could not edit \`${path}\``, result);
  return done(
    `Replaced \`${oldText}\` with \`${newText}\` in \`${path}\`${times > 1 ? `, ${times} times` : ""}.`,
  );
}

function* run(command: string): Script<Done> {
  const result = yield* call("bash", { command });
  if (result.isError) return failed(`\`${command}\` did not work`, result);
  const isRed = exitedBadly(result);
  const words = `\`${command}\`${isRed ? " failed" : ""}:\n${fenced(excerpt(result.text, "end"))}`;
  return { isError: isRed, words };
}

/** The tool reports the exit in its last lines, which stand in brackets. */
function exitedBadly({ isError, text }: CallResult): boolean {
  const notes = /(?:\n\[.*\])+$/.exec(text.trimEnd())?.[0] ?? "";
  return isError || /^\[(?:exit code [1-9]|ended by |it took longer )/m.test(notes);
}

const testCommands: readonly (readonly [file: RegExp, command: string])[] = [
  [/\bpackage\.json\b/, "npm test"],
  [/\bCargo\.toml\b/, "cargo test"],
  [/\bgo\.mod\b/, "go test ./..."],
  [/\b(?:pyproject\.toml|pytest\.ini|setup\.py|tox\.ini)\b/, "python -m pytest"],
  [/\bGemfile\b/, "bundle exec rake test"],
  [/\bMakefile\b/, "make test"],
];

function* test(which: string): Script<Done> {
  const listed = yield* call("list", { path: "." }, "How the tests are run depends on the kind of project.");
  if (listed.isError) return failed("I cannot look at the project", listed);
  const command = testCommands.find(([file]) => file.test(listed.text))?.[1];
  if (command === undefined) {
    return {
      isError: true,
      words: "I cannot tell how the tests of this project are run. Say `run COMMAND`.",
    };
  }
  const full = which === "" ? command : `${command}${command.startsWith("npm") ? " --" : ""} ${which}`;
  const result = yield* call("bash", { command: full }, `It looks like \`${full}\`.`);
  const isRed = exitedBadly(result);
  const output = fenced(excerpt(result.text, "end"));
  return {
    isError: isRed,
    words: `${isRed ? "The tests failed" : "The tests passed"} (\`${full}\`):\n${output}`,
  };
}

function* fetchPage(url: string): Script<Done> {
  const result = yield* call("fetch", { url });
  if (result.isError) return failed(`I could not fetch ${url}`, result);
  return done(`${url}:\n${fenced(excerpt(result.text))}`);
}

function isCut(text: string): boolean {
  return /\[lines \d+-\d+ of \d+; continue with offset=\d+\]$/.test(text);
}

function excerpt(text: string, which: "beginning" | "end" = "beginning"): string {
  const lines = text.replace(/\n$/, "").split("\n");
  if (lines.length <= maxShownLines) return lines.join("\n");
  const left = lines.length - maxShownLines;
  return which === "end"
    ? [`… ${left} lines before`, ...lines.slice(-maxShownLines)].join("\n")
    : [...lines.slice(0, maxShownLines), `… ${left} more lines`].join("\n");
}
