// The differences between the validators and the official schema, as edits to the schema. Each has a reason and a value
// that shows the difference; the test fails when the value no longer does.

import type { Schema } from "./oracle.ts";

export interface SchemaEdit {
  version: "v1" | "v2";
  definition: string;
  reason: string;
  /** The difference comes from salvaging, so strict mode does not have it. */
  lenientOnly?: boolean;
  /** Makes the schema say what the validators do. */
  change(schema: Schema): void;
  /** The official schema and the validators disagree about this value of the definition. */
  witness: unknown;
}

const knownTag =
  "a known tag with a malformed payload fails (X10); the schema lets it pass as the untagged variant";

/** The branches without a tag must not catch what has one of the known tags. */
function refuseTags(tag: string, tags: string[]): (schema: Schema) => void {
  return (schema) => {
    const branches = schema.anyOf ?? [];
    const last = branches.at(-1);
    if (last === undefined) throw new Error("there is no branch to edit");
    const known = tags.filter((value) =>
      branches.some((branch) => branch.properties?.[tag]?.const === value),
    );
    last.not = { properties: { [tag]: { enum: known } }, required: [tag] };
  };
}

const multiSelectItems = (version: "v1" | "v2"): SchemaEdit => ({
  version,
  definition: "MultiSelectItems",
  reason: knownTag,
  change: refuseTags("type", ["string"]),
  witness: { type: "string", enum: 5, anyOf: [{ const: "a", title: "A" }] },
});

export const exceptions: readonly SchemaEdit[] = [
  {
    version: "v1",
    definition: "AuthMethod",
    reason: knownTag,
    change: refuseTags("type", ["terminal"]),
    witness: { type: "terminal", id: "a", name: "A", args: 5 },
  },
  {
    version: "v1",
    definition: "McpServer",
    reason: knownTag,
    change: refuseTags("type", ["http", "sse", "acp"]),
    witness: { type: "http", name: "a", command: "/a", args: [], env: [] },
  },
  {
    version: "v1",
    definition: "SetSessionConfigOptionRequest",
    reason: knownTag,
    change: refuseTags("type", ["boolean"]),
    witness: { sessionId: "s", configId: "c", type: "boolean", value: "on" },
  },
  multiSelectItems("v1"),
  multiSelectItems("v2"),
  {
    version: "v2",
    definition: "SessionConfigSelectGroup",
    reason: "the rule default-on-error puts an empty list here, which the schema's own minItems would refuse",
    lenientOnly: true,
    change: (schema) => {
      delete schema.properties?.options?.minItems;
    },
    witness: { groupId: "g", name: "G", options: 5 },
  },
  {
    version: "v2",
    definition: "ErrorData",
    reason: "any value is valid, so none is salvaged: the data of an error is kept as it came",
    change: (schema) => {
      delete schema.anyOf;
    },
    witness: { sessionId: "s", _meta: 5 },
  },
];
