// The dialect pharo.

import type { Dialect } from "../dialect.ts";

const machine = (): never => {
  throw new Error("the dialect pharo is not built yet");
};

export const pharo: Dialect = { name: "pharo", agentSide: machine, clientSide: machine };
