// `parley agent`: serves the coding agent on stdin and stdout, or prints an editor's settings.

import type { Invocation } from "../command/command.ts";

export async function run(invocation: Invocation): Promise<number | undefined> {
  const { setup, login } = invocation.values;
  if (typeof setup === "string") return printSetup(setup);
  if (typeof login === "string") {
    const { logIn } = await import("./agent-login.ts");
    return logIn({ provider: login, check: false, json: false });
  }
  const { serve } = await import("./agent-serve.ts");
  return serve(invocation.values);
}

async function printSetup(editor: string): Promise<number> {
  const { usageError, watchOutput } = await import("../command/command.ts");
  const { editors, setupFor } = await import("./agent-setup.ts");
  const { launcher } = await import("../settings/installation.ts");
  const setup = setupFor(editor, launcher);
  if (setup === undefined) {
    throw usageError(
      `--setup: expected one of ${editors.join(", ")}, got ${editor}`,
      "see parley help agent",
    );
  }
  watchOutput();
  // stdout has only the block, so that it can be piped
  process.stderr.write(`Put this into ${setup.where}:\n`);
  process.stdout.write(`${setup.block}\n`);
  return 0;
}
