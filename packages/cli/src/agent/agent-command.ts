// `parley agent`: serves the coding agent on stdin and stdout, or prints an editor's settings.

import type { Invocation } from "../command/command.ts";

export async function run(invocation: Invocation): Promise<number | undefined> {
  const { setup, login } = invocation.values;
  if (typeof setup === "string") {
    const { printSetup } = await import("../settings/editor-setup.ts");
    const { launcher } = await import("../settings/installation.ts");
    const agent = { name: "Parley", id: "parley", command: launcher, args: ["agent"], env: {} };
    printSetup(setup, agent, "see parley help agent");
    return 0;
  }
  if (typeof login === "string") {
    const { logIn } = await import("./agent-login.ts");
    return logIn({ provider: login, check: false, json: false });
  }
  const { serve } = await import("./agent-serve.ts");
  return serve(invocation.values);
}
