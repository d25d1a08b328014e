import assert from "node:assert/strict";
import { test } from "node:test";
import type { CreateTerminalOptions } from "../../model/services.ts";
import { type LocalTerminalsOptions, localTerminals } from "./local-terminals.ts";

/** What `create` answers to parameters that nothing can be started with. */
async function refusal(
  create: CreateTerminalOptions,
  options: Partial<LocalTerminalsOptions> = {},
): Promise<unknown> {
  const terminals = localTerminals({ cwd: "/", ...options });
  try {
    await terminals.create(create);
  } catch (error) {
    assert.ok(error instanceof Error && "code" in error && "data" in error);
    return { code: error.code, message: error.message, data: error.data };
  } finally {
    await terminals.close();
  }
  return assert.fail("it was started");
}

function invalid(path: string, message: string): unknown {
  const data = { reason: "invalid_params", path };
  return { code: -32602, message: `terminal/create: ${message}`, data };
}

test("an empty command is refused (N181)", async () => {
  const message = "command must not be empty; give a program or a path";
  assert.deepEqual(await refusal({ command: "" }), invalid("/command", message));
});

test("a NUL in the command or an argument is refused (N182)", async () => {
  const message = "must not contain a NUL character";
  assert.deepEqual(await refusal({ command: "ca\0t" }), invalid("/command", `command ${message}`));
  assert.deepEqual(
    await refusal({ command: "cat", args: ["fine", "b\0d"] }),
    invalid("/args/1", `args[1] ${message}`),
  );
});

test("an environment name that cannot be one is refused (N183)", async () => {
  for (const name of ["A=B", "", "A\0"]) {
    assert.deepEqual(
      await refusal({ command: "true", env: { [name]: "x" } }),
      invalid(
        "/env",
        `an environment name must be without "=" and NUL and not empty, got ${JSON.stringify(name)}`,
      ),
    );
  }
  assert.deepEqual(
    await refusal({ command: "true", env: { A: "x\0" } }),
    invalid("/env", "env A must not contain a NUL character"),
  );
});

test("an output limit that is no number of bytes is refused (N184)", async () => {
  for (const outputByteLimit of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.deepEqual(
      await refusal({ command: "true", outputByteLimit }),
      invalid(
        "/outputByteLimit",
        `outputByteLimit must be a number of bytes, 0 or more, got ${outputByteLimit}`,
      ),
    );
  }
});

test("a working directory that is not absolute is refused", async () => {
  assert.deepEqual(
    await refusal({ command: "true", cwd: "src" }),
    invalid("/cwd", 'cwd must be an absolute path, got "src"'),
  );
  assert.throws(() => localTerminals({ cwd: "src" }), /cwd must be an absolute path, got "src"/);
});

test("an unknown terminal id is refused (N186)", () => {
  const terminals = localTerminals({ cwd: "/" });
  assert.throws(() => terminals.get("term_1"), {
    code: -32002,
    message: "there is no such terminal: it was released, or never created here",
    data: { reason: "terminal_not_found" },
  });
});

test("where no terminal is allowed, the refusal names the limit", async () => {
  assert.deepEqual(await refusal({ command: "true" }, { maxTerminals: 0 }), {
    code: -32063,
    message: "terminal/create: the limit of 0 terminals is reached; release one that has ended",
    data: { reason: "limit_exceeded" },
  });
});

test("after close nothing is started any more", async () => {
  const terminals = localTerminals({ cwd: "/" });
  await terminals.close();
  await assert.rejects(terminals.create({ command: "true" }), {
    code: -32067,
    data: { reason: "unavailable" },
  });
});

test("a create that was cancelled before it began starts nothing", async () => {
  const terminals = localTerminals({ cwd: "/", pty: () => assert.fail("it was started") });
  const reason = new Error("changed my mind");
  await assert.rejects(terminals.create({ command: "true", signal: AbortSignal.abort(reason) }), reason);
});
