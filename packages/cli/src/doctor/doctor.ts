// `parley doctor`: diagnoses the installation and suggests fixes.

import { streamRedactor } from "@parley/acp/redact";
import { configuredMcpServers } from "@parley/client/config";
import { type Invocation, printAnswer } from "../command/command.ts";
import { secondsOption, textOption } from "../command/option-values.ts";
import { progressOnStderr } from "../printers/output.ts";
import { commandToType } from "../settings/installation.ts";
import { knownSecrets } from "../settings/known-secrets.ts";
import { readAgents, unknownAgent } from "../settings/named-agent.ts";
import { escapedLine, safeLine } from "../terminal/sanitise.ts";
import { columnsOf, wrapLine } from "../terminal/wrap-line.ts";
import {
  examineAgents,
  examineConfig,
  examineFolders,
  examineModel,
  examineNode,
  type Finding,
} from "./examine.ts";
import { examineServers } from "./examine-mcp.ts";
import { examinePolicy } from "./examine-policy.ts";
import { examineSandbox } from "./examine-sandbox.ts";
import { examineWorkspace } from "./examine-workspace.ts";

const indent = " ".repeat(11);
const marks = { ok: "ok     ", missing: "-      ", warning: "warning", broken: "BROKEN " } as const;

export async function run({ values, json }: Invocation): Promise<number> {
  const timeoutMs = secondsOption(values, "timeout") ?? 30_000;
  const name = textOption(values, "agent");
  const checksTools = values["no-tools"] !== true;
  const { finding, config } = await examineConfig();
  const agents = finding.state === "broken" ? undefined : readAgents(() => undefined).agents;
  if (name !== undefined && agents?.has(name) === false) {
    throw unknownAgent(name, [...agents.keys()]);
  }
  const findings: Finding[] = [];
  const progress = json ? undefined : progressOnStderr();
  const waits = (what: string) => progress?.draw(redactor.text(safeLine(what)));
  const redactor = streamRedactor(knownSecrets());
  const found = (unsafe: Finding) => {
    const finding = redactor.value(unsafe);
    findings.push(finding);
    progress?.clear();
    // printed at once: an agent may take a minute
    if (!json) process.stdout.write(`${line(finding)}\n`);
  };
  found(examineNode());
  found(await examineSandbox());
  for (const finding of examineFolders()) found(finding);
  found(finding);
  found(await examineModel(config));
  for (const finding of examinePolicy()) found(finding);
  for (const finding of await examineWorkspace(process.cwd(), config)) found(finding);
  if (agents === undefined) {
    const detail = "not checked, because the config file cannot be read";
    found({ what: "agents", state: "missing", detail });
  } else {
    for await (const each of examineAgents(agents.values(), name, { timeoutMs, checksTools, waits }))
      found(each);
    const servers = configuredMcpServers(config);
    if (servers.length > 0) waits(`waiting for the MCP servers, at most ${timeoutMs / 1_000} s`);
    for (const each of await examineServers(servers, timeoutMs)) found(each);
  }
  const counted = (state: Finding["state"]) => findings.filter((each) => each.state === state).length;
  const [broken, warnings] = [counted("broken"), counted("warning")];
  if (json) printAnswer("", { findings, broken, warnings }, true);
  else process.stdout.write(`\n${summary(broken, warnings)}\n`);
  return broken === 0 ? 0 : 1;
}

function summary(broken: number, warnings: number): string {
  const several = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
  if (broken + warnings === 0) return "No problems found.";
  const found = [
    ...(broken === 0 ? [] : [several(broken, "problem")]),
    ...(warnings === 0 ? [] : [several(warnings, "warning")]),
  ];
  return `${found.join(" and ")} found; see above for what to do.`;
}

function line({ what, state, detail, todo }: Finding): string {
  const details = detail.split("\n").map(escapedLine);
  // as it can be typed
  const fix = todo && `→ ${escapedLine(todo).replaceAll(/\bparley (?=[a-z])/g, `${commandToType()} `)}`;
  const columns = columnsOf(process.stdout);
  return [
    `${marks[state]}  ${escapedLine(what)}: ${details.shift()}`,
    ...[...details, ...(fix ? [fix] : [])].map((each) => `${indent}${each}`),
  ]
    .map((each) => wrapLine(each, columns, `${indent}  `))
    .join("\n");
}
