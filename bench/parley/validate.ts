// Parley's generated validators for v1, as a connection calls them: lenient for what is received, strict
// for what is sent.

// biome-ignore lint/style/noRestrictedImports: validators have no entry point of their own, and their cost alone is measured here
import { bindMethod, decodeParams, encodeParams, Failure } from "../../packages/acp/src/wire/decode.ts";
// biome-ignore lint/style/noRestrictedImports: as above
import { methods } from "../../packages/acp/src/wire/v1/methods.gen.ts";
import { runChecks } from "../validation-work.ts";

const bound = new Map(methods.map((row) => [row.method, bindMethod(row)]));

const checkWith = (check: typeof decodeParams) => (name: string) => {
  const method = bound.get(name);
  if (method === undefined) throw new Error(`there is no method ${name}`);
  return (params: unknown) => {
    const checked = check(method, params);
    if (checked instanceof Failure) throw new Error(`${name}${checked.path}: wanted ${checked.expected}`);
  };
};

runChecks({ lenient: checkWith(decodeParams), strict: checkWith(encodeParams) });
