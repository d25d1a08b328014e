// What an agent gets from the files and terminals of a client, by the editions of the two.

type Event = { readonly event: string; readonly [detail: string]: unknown };

const kinds = new Set(["login", "read", "written", "terminal", "failed", "unavailable"]);

/** The events of an agent about services, in short lines. */
export function servicesOf(events: readonly Event[]): readonly string[] {
  return events.filter(({ event }) => kinds.has(event)).flatMap(line);
}

function line(event: Event): readonly string[] {
  const { command, op, output, exitCode, signal, timedOut } = event;
  switch (event.event) {
    case "login":
      return [`login ${JSON.stringify(event["credentials"] ?? {})}`];
    case "read":
      return [`read ${JSON.stringify(event["text"])}`];
    case "written":
      return [`written ${event["path"]}`];
    case "terminal":
      if (op === "create") return [];
      if (op === "pushed") return [`${command} pushed ${JSON.stringify(output)}`];
      if (op === "wait") return [`${command} ended ${exitCode === 0 ? "well" : (signal ?? "badly")}`];
      if (op === "output")
        return event["exitStatus"] === undefined ? [] : [`${command} wrote ${JSON.stringify(output)}`];
      return [`${command} ${JSON.stringify(op)}${timedOut === true ? " timed out" : ""}`];
    default:
      // a file that is there, and must not be replaced
      return [event["code"] === -32066 ? "conflict" : `no ${event["what"]}`];
  }
}

/** What is wanted of a pair. Version 2 has no files and terminals of the client. */
export function servicesWanted(client: string, agent: string): readonly string[] {
  const credentials = isDialect(client) && isDialect(agent) ? { apiKey: "secret" } : {};
  const login = `login ${JSON.stringify(credentials)}`;
  const none = (times: number, what: string) => Array<string>(times).fill(`no ${what}`);
  if (client === "v2" || agent === "v2")
    return [
      login,
      ...none(4, "files"),
      ...none(3, "terminals"),
      ...none(4, "files"),
      ...none(3, "terminals"),
    ];
  const pushes = agent === "scoped" || client === "scoped";
  const pushed = (command: string, text: string) =>
    pushes ? [`${command} pushed ${JSON.stringify(text)}`] : [];
  // pharo has a number for the end of a command, and no name for a signal
  const ended = (signal: string) =>
    `sleep ended ${client === "pharo" || agent === "pharo" ? "badly" : signal}`;
  const made = ["make ended well", 'make wrote "made\\n"', 'make "release"', ...pushed("make", "made\n")];
  const slept = (signal: string) => [
    ended(signal),
    'sleep wrote "zzz"',
    'sleep "release"',
    ...pushed("sleep", "zzz"),
  ];
  const areCoded = client === "scoped" && agent === "scoped";
  const keeps = isDialect(agent);
  return [
    login,
    'read "first\\nsecond\\nthird\\n"',
    'read "second\\n"',
    "no files",
    "written /project/written.txt",
    ...made,
    'sleep "kill"',
    ...slept("SIGTERM"),
    "no terminals",
    areCoded ? 'read "Zmlyc3QKc2Vjb25kCnRoaXJkCg=="' : "no files",
    keeps ? "conflict" : "no files",
    keeps ? "written /project/fresh.txt" : "no files",
    areCoded ? "written /project/coded.txt" : "no files",
    ...made,
    ...slept("SIGTERM"),
    'sleep {"waitMs":20} timed out',
    keeps ? 'sleep {"signal":"SIGINT"}' : "no terminals",
    'sleep "kill"',
    ...slept(keeps ? "SIGINT" : "SIGTERM"),
  ];
}

const isDialect = (edition: string): boolean => edition === "pharo" || edition === "scoped";
