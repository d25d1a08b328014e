// For tests: an agent in a few lines of shell that a prompt with die-1 kills once, at a chosen point.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { CommandEntry } from "@parley/client/launch";

/** Where in its life it dies. */
export type CrashPoint =
  | "at the handshake"
  | "when the session is taken up"
  | "before it says anything"
  | "in a half-written line"
  | "in a thought"
  | "in a message"
  | "with a plan"
  | "in a tool call"
  | "after a tool call"
  | "while a question is open"
  | "after a permission"
  | "while a terminal runs"
  | "while it is cancelled"
  | "in the answer to a prompt"
  | "after the answer to a prompt";

const script = `
folder=$1 point=$2
echo "$0" > "$folder/life-$$"
die() { [ "$point" != "$1" ] || [ -z "$token" ] || [ -e "$folder/$token" ] || { : > "$folder/$token"; kill -s KILL $$; }; }
put() { printf '{"jsonrpc":"2.0",%s}\\n' "$1"; }
answer() { put "\\"id\\":$id,\\"result\\":$1"; }
ask() { put "\\"id\\":\\"$1\\",\\"method\\":\\"$1\\",\\"params\\":{\\"sessionId\\":\\"old\\",$2}"; }
update() { put "\\"method\\":\\"session/update\\",\\"params\\":{\\"sessionId\\":\\"old\\",\\"update\\":{\\"sessionUpdate\\":$1}}"; }
say() { update "\\"$1\\",\\"content\\":{\\"type\\":\\"text\\",\\"text\\":\\"$2\\"}"; }
turn() {
  die "before it says anything"
  if [ "$point" = "in a half-written line" ] && ! [ -e "$folder/$token" ]; then printf '{"jsonrpc":"2.0","met'; die "$point"; fi
  say agent_thought_chunk "thought-$token"
  die "in a thought"
  say agent_message_chunk "said-$token"
  die "in a message"
  update '"plan","entries":[{"content":"a","priority":"high","status":"pending"}]'
  die "with a plan"
  call="call-$token" tool='"title":"look","kind":"execute"'
  update "\\"tool_call\\",\\"toolCallId\\":\\"$call\\",$tool,\\"status\\":\\"in_progress\\""
  die "in a tool call"
  case $point in
    *question* | *permission*)
      ask session/request_permission "\\"toolCall\\":{\\"toolCallId\\":\\"$call\\"},\\"options\\":[{\\"optionId\\":\\"y\\",\\"name\\":\\"Yes\\",\\"kind\\":\\"allow_once\\"}]"
      die "while a question is open"
      read -r line
      die "after a permission" ;;
    *terminal*)
      ask terminal/create "\\"command\\":\\"/bin/sh\\",\\"args\\":[\\"-c\\",\\"echo > $folder/command-\\$\\$; exec sleep 100000\\"]"
      read -r line
      die "while a terminal runs" ;;
    *cancelled*)
      [ -z "$token" ] || [ -e "$folder/$token" ] || { read -r line; die "$point"; } ;;
  esac
  update "\\"tool_call_update\\",\\"toolCallId\\":\\"$call\\",\\"status\\":\\"completed\\""
  die "after a tool call"
  [ "$point" != "in the answer to a prompt" ] || [ -z "$token" ] || [ -e "$folder/$token" ] || printf '{"jsonrpc":"2.0","id":%s,"res' "$id"
  die "in the answer to a prompt"
  answer '{"stopReason":"end_turn"}'
  die "after the answer to a prompt"
}
while read -r line; do
  id=\${line#*'"id":'} id=\${id%%[,\\}]*}
  case $line in
    *'"method":"initialize"'*)
      if [ "$point" = "at the handshake" ] && [ -e "$folder/next" ]; then read -r token < "$folder/next"; die "$point"; fi
      answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}' ;;
    *'"method":"session/resume"'* | *'"method":"session/load"'*)
      if [ "$point" = "when the session is taken up" ] && [ -e "$folder/next" ]; then read -r token < "$folder/next"; die "$point"; fi
      answer '{}' ;;
    *'"method":"session/prompt"'*)
      token=
      case $line in *die-*) token=\${line#*die-} token=die-\${token%%[!0-9]*} ;; esac
      turn ;;
  esac
done
[ -z "$3" ] || { trap '' TERM; exec sleep 100000; }
`;

/** An agent that dies at this point, with what it leaves behind; one that stays minds neither EOF nor SIGTERM. */
export function crashingAgent(t: TestContext, point: CrashPoint, stays: "stays" | "leaves" = "leaves") {
  const folder = mkdtempSync(join(tmpdir(), "parley-crashing-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "agent.sh");
  writeFileSync(program, script);
  const entry: CommandEntry = {
    name: "crashing",
    origin: "command",
    transport: "stdio",
    command: "/bin/sh",
    args: [program, folder, point, ...(stays === "stays" ? [stays] : [])],
  };
  return {
    entry,
    folder,
    /** The processes that were started so far. */
    lives: () => pidsOf(folder, "life-"),
    /** The same with the commands that it ran. */
    pids: () => [...pidsOf(folder, "life-"), ...pidsOf(folder, "command-")],
    /** Those at the start of its life happen to the next process. */
    dieAtNextStart(token: string): void {
      writeFileSync(join(folder, "next"), `${token}\n`);
    },
  };
}

function pidsOf(folder: string, prefix: string): number[] {
  const names = readdirSync(folder).filter((name) => name.startsWith(prefix));
  return names.map((name) => Number(name.slice(prefix.length)));
}
