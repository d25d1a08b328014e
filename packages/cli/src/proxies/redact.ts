// The proxy `redact`: removes secrets from what goes to the agent, and from what the agent shows. Files that it writes stay as they are.

import type { SessionUpdate } from "@parley/acp/model";
import { type ProxiedMessage, proxy } from "@parley/acp/proxy";
import { redactor, type StreamRedactor, streamRedactor } from "@parley/acp/redact";
import { option } from "../command/command.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

interface Item {
  readonly update: SessionUpdate;
}

export const redact: ShippedProxy = {
  name: "redact",
  summary:
    "Removes secrets from prompts and files on their way to the agent, and from what it says, shows and asks",
  options: {
    secret: option("TEXT", "Also remove this text; can be repeated", { multiple: true }),
    only: option("SIDE", "prompts or updates: redact only these (default: both)"),
  },

  create(given, { secrets }) {
    const only = given.choice("only", ["prompts", "updates"]);
    const known = [...secrets(), ...given.list("secret")];
    // paths stay as they are: the client opens them
    const clean = redactor({ secrets: known, names: false, mark: "[secret]" });
    const value = <Value>(dirty: Value): Value => clean.value(dirty) as Value; // as: only texts in it change
    // also what no edition knows of them
    const whole = ({ params }: ProxiedMessage) => value(params) as object; // as: they have params

    return proxy<StreamRedactor<Item>>({
      name: "redact",
      version: "1.0.0",
      errors: "closed",
      messages: {
        ...(only !== "updates" && { "session/prompt": whole }),
        ...(only !== "prompts" && {
          "session/update": whole,
          "session/request_permission": whole,
          "elicitation/create": whole,
        }),
      },
      session: () => streamRedactor<Item>(known, { mark: "[secret]" }),
      ...(only !== "updates" && {
        results: { "fs/read_text_file": value, "terminal/output": value },
      }),
      ...(only !== "prompts" && {
        update(update, session) {
          // a secret may come in pieces: what may be its beginning waits for the next update
          const ready = session.data.next({ update });
          const last = ready.at(-1)?.update;
          for (const before of ready.slice(0, -1)) session.update(before.update);
          return last ?? null;
        },
        turnEnd(_, session) {
          for (const { update } of session.data.end()) session.update(update);
        },
      }),
    });
  },
};
