// The dialect scoped.

import type { Dialect } from "../dialect.ts";

const machine = (): never => {
  throw new Error("the dialect scoped is not built yet");
};

export const scoped: Dialect = { name: "scoped", agentSide: machine, clientSide: machine };
