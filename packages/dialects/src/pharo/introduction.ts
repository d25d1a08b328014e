// What both sides say about themselves in `initialize`.

import { withMetaKeys, withoutMeta } from "../exchange/details.ts";
import { type Fields, type Lost, metaField } from "../exchange/exchange.ts";
import { capabilitiesKey, isObject, optional, sessionOptionsKey } from "../exchange/library.ts";
import type {
  ClientCapabilities,
  InitializeRequest,
  InitializeResponse,
  McpCapabilities,
  SessionMode,
  TerminalCapabilities,
} from "../wire/pharo/types.gen.ts";
import { given } from "./content.ts";

/** The methods of terminals, each with its flag. */
export const terminalFlags = {
  "terminal/create": "create",
  "terminal/output": "output",
  "terminal/wait_for_exit": "waitForExit",
  "terminal/kill": "kill",
  "terminal/release": "release",
} as const satisfies Readonly<Record<string, keyof TerminalCapabilities>>;

const flags = Object.values(terminalFlags);

/** Version 1 has one flag for terminals: it is set where all methods are there. */
export function clientToV1(params: InitializeRequest): Fields {
  const { clientCapabilities, ...rest } = params;
  if (clientCapabilities === undefined) return { ...rest };
  const { terminal, _meta: _, ...others } = clientCapabilities;
  const hasAll = flags.every((flag) => terminal?.[flag] === true);
  const isPartial = !hasAll && flags.some((flag) => terminal?.[flag] === true);
  const meta = withMetaKeys(clientCapabilities, {
    [capabilitiesKey]: isPartial ? { terminal } : undefined,
  });
  const flag = optional({ terminal: terminal === undefined ? undefined : hasAll });
  return { ...rest, clientCapabilities: { ...others, ...flag, ...meta } };
}

export function clientToPharo(params: Fields, lost: Lost): Fields {
  const { clientInfo, clientCapabilities } = params;
  const can = isObject(clientCapabilities) ? clientCapabilities : {};
  const { fs, terminal, _meta: _, ...others } = can;
  const names = Object.keys(given(others));
  if (names.length > 0) lost(`capabilities of the client: ${names.join(", ")}`);
  return {
    protocolVersion: 1,
    ...(isObject(clientInfo) ? { clientInfo: infoToPharo(clientInfo, lost) } : {}),
    clientCapabilities: {
      ...(isObject(fs) ? { fs: given(fs) } : {}),
      ...optional({ terminal: terminalToPharo(can, terminal) }),
      ...withoutMeta(can, [capabilitiesKey]),
    },
    ...metaField(params),
  };
}

/** All five alike, unless another client of the dialect has said which it has: then it has not all of them. */
function terminalToPharo(can: Fields, terminal: unknown): ClientCapabilities["terminal"] {
  const said = metaField(can)._meta?.[capabilitiesKey];
  const own = isObject(said) && isObject(said["terminal"]) ? said["terminal"] : undefined;
  if (own === undefined && typeof terminal !== "boolean") return undefined;
  const has = (flag: string): boolean => terminal === true || own?.[flag] === true;
  return Object.fromEntries(flags.map((flag) => [flag, has(flag)]));
}

function infoToPharo(info: Fields, lost: Lost): Fields {
  const { title, ...rest } = given(info);
  if (title !== undefined) lost("the title of a program: its name is shown");
  return rest;
}

/** The modes that sessions begin with are an option here, as version 1 writes options. */
export function agentToV1(result: InitializeResponse): Fields {
  const { protocolVersion, agentInfo, agentCapabilities, authenticationMethods } = result;
  const { loadSession, promptCapabilities, mcpCapabilities, sessionModes, ...rest } = agentCapabilities ?? {};
  const options =
    sessionModes === undefined || sessionModes.length === 0 ? undefined : [modeOption(sessionModes)];
  return {
    protocolVersion,
    ...optional({ agentInfo }),
    agentCapabilities: {
      ...optional({ loadSession, promptCapabilities }),
      ...(mcpCapabilities === undefined ? {} : { mcpCapabilities: mcpToV1(mcpCapabilities) }),
      ...metaField(rest),
    },
    authMethods: (authenticationMethods ?? []).map(({ methodId: id, title: name, ...others }) => ({
      id,
      name,
      ...others,
    })),
    ...withMetaKeys(result, { [sessionOptionsKey]: options }),
  };
}

function mcpToV1(mcp: McpCapabilities): Fields {
  const { supportedTransports = [] } = mcp;
  const has = (name: string): boolean => supportedTransports.includes(name);
  return { http: has("http"), sse: has("sse"), ...metaField(mcp) };
}

/** Every agent can start servers. */
function mcpToPharo(mcp: Fields): Fields {
  const others = ["http", "sse"].filter((name) => mcp[name] === true);
  return { supportedTransports: ["stdio", ...others], ...metaField(mcp) };
}

const modeConfigId = "_mode";

function modeOption(modes: readonly SessionMode[]): Fields {
  const options = modes.map(({ modeId: value, title: name, ...rest }) => ({ value, name, ...rest }));
  const [first] = options;
  return {
    id: modeConfigId,
    name: "Mode",
    category: "mode",
    type: "select",
    currentValue: first?.value,
    options,
  };
}

/** What version 1 says about modes in the answer that opens a session. */
export function modeState(modes: readonly SessionMode[], current: string | undefined): { modes?: Fields } {
  const [first] = modes;
  if (first === undefined) return {};
  const availableModes = modes.map(({ modeId: id, title: name, ...rest }) => ({ id, name, ...rest }));
  return { modes: { currentModeId: current ?? first.modeId, availableModes } };
}

export function agentToPharo(result: Fields, lost: Lost): Fields {
  const { protocolVersion, agentInfo, agentCapabilities, authMethods } = result;
  const can = isObject(agentCapabilities) ? agentCapabilities : {};
  const { loadSession, promptCapabilities, mcpCapabilities, _meta: _, ...others } = can;
  const names = Object.keys(given(others));
  if (names.length > 0) lost(`capabilities of the agent: ${names.join(", ")}`);
  const modes = sessionModes(result);
  return {
    protocolVersion,
    ...(isObject(agentInfo) ? { agentInfo: infoToPharo(agentInfo, lost) } : {}),
    agentCapabilities: {
      ...optional({ loadSession: loadSession ?? undefined }),
      ...(isObject(promptCapabilities) ? { promptCapabilities: given(promptCapabilities) } : {}),
      ...(isObject(mcpCapabilities) ? { mcpCapabilities: mcpToPharo(mcpCapabilities) } : {}),
      ...(modes.length === 0 ? {} : { sessionModes: modes }),
      ...metaField(can),
    },
    authenticationMethods: loginsToPharo(authMethods, lost),
    ...withoutMeta(result, [sessionOptionsKey]),
  };
}

function loginsToPharo(methods: unknown, lost: Lost): Fields[] {
  if (!Array.isArray(methods)) return [];
  return methods.flatMap((method: Fields) => {
    const { id: methodId, name: title, type, ...rest } = given(method);
    if (type === undefined) return [{ methodId, title, ...rest }];
    lost(`a login of type ${String(type)}`);
    return [];
  });
}

/** The modes among the options that sessions begin with. */
function sessionModes(result: Fields): Fields[] {
  const options = metaField(result)._meta?.[sessionOptionsKey];
  if (!Array.isArray(options)) return [];
  const option = options.find((each: unknown) => isObject(each) && each["category"] === "mode");
  const choices: unknown = isObject(option) ? option["options"] : undefined;
  if (!Array.isArray(choices)) return [];
  const flat = choices.flatMap((choice: Fields): readonly Fields[] =>
    Array.isArray(choice["options"]) ? choice["options"] : [choice],
  );
  return flat.map((choice) => {
    const { value: modeId, name: title, description, _meta } = given(choice);
    return given({ modeId, title, description, _meta });
  });
}
