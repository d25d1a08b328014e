// Bad input that a client writes to our agent's stdin.

import { testCatalogue, testScenarios } from "./register-tests.ts";
import { openAgentProcess } from "./stdio-wires.ts";

const direction = { transport: "stdio", role: "agent", open: openAgentProcess, shared: true } as const;

testCatalogue({ ...direction, version: 1 });
testCatalogue({ ...direction, version: 2 });
testScenarios({ ...direction, version: 1 });
