// Bad input that an agent writes to its stdout, where our client reads it.

import { testCatalogue, testScenarios } from "./register-tests.ts";
import { openHostileAgent } from "./stdio-wires.ts";

const direction = { transport: "stdio", role: "client", open: openHostileAgent, shared: true } as const;

testCatalogue({ ...direction, version: 1 });
testCatalogue({ ...direction, version: 2 });
testScenarios({ ...direction, version: 1 });
