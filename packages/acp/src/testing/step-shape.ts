// A step is an object with one verb and what may stand beside it.

import { isObject } from "../base/is-object.ts";
import { fields, got, ScenarioError, type Shape } from "./shape.ts";

export type VerbShapes = Readonly<Record<string, readonly [Shape, Readonly<Record<string, Shape>>?]>>;

/** `ambiguous` is a verb that also stands beside others. */
export function stepOf(verbs: VerbShapes, ambiguous?: string): Shape {
  const names = Object.keys(verbs);
  return {
    wanted: "a step",
    check(value, path) {
      if (!isObject(value))
        throw new ScenarioError(path, `got ${got(value)}, wanted a step: an object with one verb`);
      const all = names.filter((name) => name in value);
      const found = all.length > 1 ? all.filter((name) => name !== ambiguous) : all;
      const [verb = ""] = found;
      const entry = verbs[verb];
      if (entry === undefined || found.length > 1) {
        const saw = entry === undefined ? got(value) : `the verbs ${found.join(" and ")} in one step`;
        throw new ScenarioError(path, `got ${saw}, wanted exactly one of ${names.join(", ")}`);
      }
      const [shape, beside = {}] = entry;
      fields(`a step with ${verb}`, { ...beside, [`${verb}!`]: shape }).check(value, path);
    },
  };
}
