// Every message of the document about scoped means in version 1 what the document says, and is sent as it is written.

import { test } from "node:test";
import { scopedMachines as scoped } from "../../src/scoped/machines.ts";
import { checkExample, messagesOf } from "./check-example.ts";

for (const example of messagesOf("scoped")) {
  const { section, line, method, kind } = example;
  test(`${section} (line ${line}): the ${kind} of ${method} is understood and sent`, () => {
    checkExample(scoped, example);
  });
}
