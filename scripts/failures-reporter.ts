// A reporter for Node's test runner: prints the failures, each with its file, its full name and the error, and then the counts.

import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

type Failed = Extract<TestEvent, { type: "test:fail" }>["data"];

/** Output of a file that broke outside of its tests is shown; that of passing tests is not. */
const longestOutput = 4_000;

// biome-ignore lint/style/noDefaultExport: the test runner wants it
export default async function* failures(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { pass: 0, fail: 0, cancelled: 0, skipped: 0 };
  /** The names of the tests around the current one, by file. */
  const names = new Map<string, string[]>();
  const printed = new Map<string, string>();
  for await (const event of source) {
    const file = fileOf(event);
    if (event.type === "test:start") {
      const around = names.get(file) ?? [];
      around.length = event.data.nesting;
      names.set(file, [...around, event.data.name]);
    } else if (event.type === "test:stdout" || event.type === "test:stderr") {
      printed.set(file, `${printed.get(file) ?? ""}${event.data.message}`.slice(-longestOutput));
    } else if (event.type === "test:diagnostic" && /^security: /.test(event.data.message)) {
      yield `ℹ ${event.data.message}\n`;
    } else if (event.type === "test:pass" && event.data.details.type !== "suite") {
      if (event.data.skip === undefined) counts.pass += 1;
      else counts.skipped += 1;
    } else if (event.type === "test:fail" && isOwnFailure(event.data)) {
      counts[causeOf(event.data) === "cancelledByParent" ? "cancelled" : "fail"] += 1;
      yield described(
        event.data,
        [...(names.get(file) ?? [])].slice(0, event.data.nesting),
        file,
        printed.get(file),
      );
    }
  }
  for (const [name, count] of Object.entries(counts)) yield `ℹ ${name} ${count}\n`;
}

/** Relative to the repository; some events have an absolute path. */
function fileOf({ data }: TestEvent): string {
  const file = data !== undefined && "file" in data ? data.file : undefined;
  return file === undefined ? "" : relative(process.cwd(), file);
}

/** A suite, or a test with subtests, fails with one of its tests, which has been printed. */
function isOwnFailure(data: Failed): boolean {
  return causeOf(data) !== "subtestsFailed";
}

function causeOf({ details: { error } }: Failed): unknown {
  return (error as { readonly failureType?: unknown }).failureType; // of Node's own error around the thrown one
}

function described(
  { name, line = 1, details: { error } }: Failed,
  around: readonly string[],
  file: string,
  printed = "",
): string {
  const cause: unknown = error.cause ?? error;
  const thrown = cause instanceof Error ? (cause.stack ?? cause.message) : cause;
  const text = typeof thrown === "string" ? thrown : inspect(thrown);
  // a file that broke outside of its tests is reported under its own name, and says why on stderr
  const output = name === file ? `\n${printed.trimEnd()}` : "";
  const full = [...around, name].join(" > ");
  return `✖ ${file}:${line}: ${full}\n${`${text}${output}`.replaceAll(/^/gm, "    ")}\n\n`;
}
