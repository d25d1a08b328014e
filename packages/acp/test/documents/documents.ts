// The documents that Parley follows: their sections, and every example of a message in them.

import { readFileSync } from "node:fs";

export type Json = Record<string, unknown>;

export interface Section {
  readonly title: string;
  /** The line of the heading, from 1. */
  readonly line: number;
}

/** A message of a document, or a part of one that is completed to a message. */
export interface Example {
  readonly section: string;
  /** The line of the document at which the example begins, from 1. */
  readonly line: number;
  /** Who sends the message. */
  readonly from: "client" | "agent";
  readonly kind: "request" | "notification" | "answer" | "settings" | "schema";
  readonly method: string;
  /** Where the message has what the document shows (a JSON pointer). Absent if that is the whole message. */
  readonly at?: string;
  /** The fields there that the document leaves out. */
  readonly added?: readonly string[];
  /** Why, and how, the example was completed by hand. */
  readonly completed?: string;
  readonly message: Json;
  /** The same in version 1: what the example means. */
  readonly v1?: readonly Json[];
  /** How our side answers what a machine of the dialect asks by itself, by method. */
  readonly answers?: Json;
  /** What is sent in its place, where that differs from the message. */
  readonly returns?: readonly Json[];
  /** Why the message does not come back as it is. */
  readonly exception?: string;
}

export interface Document {
  readonly title: string;
  readonly edition: "v1" | "v2" | "pharo" | "scoped";
  readonly counts: {
    readonly sections: number;
    /** The examples that are JSON. */
    readonly json: number;
    /** Those that are JSON but for a word that stands for a value. */
    readonly almostJson: number;
    /** Messages that the document writes as part of a program. */
    readonly inProgramText: number;
  };
  /** The content blocks that a document describes, and that its own schema does not have. */
  readonly schemaExceptions?: readonly { readonly type: string; readonly why: string }[];
  readonly sections: readonly Section[];
  readonly examples: readonly Example[];
}

const names = ["transports", "official", "mapping", "pharo", "scoped"] as const;

export const documents: ReadonlyMap<string, Document> = new Map(names.map((name) => [name, read(name)]));

export function documentNamed(name: (typeof names)[number]): Document {
  return documents.get(name) ?? read(name);
}

function read(name: string): Document {
  const folder = name === "pharo" || name === "scoped" ? "../../../dialects/test/documents/" : "";
  return JSON.parse(readFileSync(new URL(`${folder}${name}.json`, import.meta.url), "utf8")) as Document; // our own file
}

/** What the document shows of the message. */
export function quoted({ message, at = "", added = [] }: Example): unknown {
  let value: unknown = message;
  for (const key of at.split("/").slice(1)) value = (value as Json)[key];
  if (added.length === 0) return value;
  return Object.fromEntries(Object.entries(value as Json).filter(([key]) => !added.includes(key)));
}
