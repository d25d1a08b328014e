// The proxy `tap`: records the messages at its position in a chain, in the format of `parley tap`.

import { resolve } from "node:path";
import { conductor } from "@parley/acp/proxy";
import { memoryPair, wrapTransport } from "@parley/acp/transport";
import { option } from "../command/command.ts";
import { hopRecorder } from "../tap/hop-recorder.ts";
import { defaultTracePath } from "../trace/trace-file.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

export const tap: ShippedProxy = {
  name: "tap",
  summary: "Records the messages at its position in the chain, for parley trace",
  options: {
    out: option("FILE", "The trace (default: a file in the state directory)"),
  },

  create(given, { warn }) {
    const out = given.text("out");
    return () => {
      const path = out === undefined ? defaultTracePath("proxy", new Date()) : resolve(out);
      const recorder = hopRecorder(path, { command: ["parley", "proxy", "tap"], label: false, warn });
      // a chain of no proxies has one hop, which sees requests, answers and errors as they are
      const [near, far] = memoryPair();
      conductor([], { name: "tap", watch: recorder.watch }).connect(far);
      return wrapTransport(near, {
        async close(reason) {
          await near.close(reason);
          await recorder.end();
        },
      });
    };
  },
};
