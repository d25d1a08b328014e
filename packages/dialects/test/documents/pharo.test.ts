// Every message of the document about pharo means in version 1 what the document says, and is sent as it is written.

import { test } from "node:test";
import { pharoMachines as pharo } from "../../src/pharo/machines.ts";
import { checkExample, messagesOf } from "./check-example.ts";

for (const example of messagesOf("pharo")) {
  const { section, line, method, kind } = example;
  test(`${section} (line ${line}): the ${kind} of ${method} is understood and sent`, () => {
    checkExample(pharo, example);
  });
}
