// The shape of a step: an object with one verb and its options.

import { isObject } from "../base/is-object.ts";
import { problemsOf, type Shape } from "../base/shape.ts";
import { custom, fields } from "./shape.ts";

export type VerbShapes = Readonly<Record<string, readonly [Shape, Readonly<Record<string, Shape>>?]>>;

/** `ambiguous` is a verb that is also an option of others. */
export function stepOf(verbs: VerbShapes, ambiguous?: string): Shape {
  const names = Object.keys(verbs);
  return custom("a step: an object with one verb", (value, path, wrong) => {
    if (!isObject(value)) return wrong;
    const all = names.filter((name) => name in value);
    const found = all.length > 1 ? all.filter((name) => name !== ambiguous) : all;
    const [verb = ""] = found;
    const entry = verbs[verb];
    if (entry === undefined || found.length > 1)
      return [{ path, kind: "wrong", wanted: `exactly one of ${names.join(", ")}`, value }];
    const [shape, options = {}] = entry;
    return problemsOf(value, fields(`a step with ${verb}`, { ...options, [`${verb}!`]: shape }), path);
  });
}
