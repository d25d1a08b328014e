// For tests: an agent in a few lines of shell, to be killed at any time. It notes what it is given and what it begins.

import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

// a prompt is one word such as stream-12: what it does, and its number. Before it begins, it has said so.
const script = `
folder=$1
: > "$folder/life-$$"
put() { printf '{"jsonrpc":"2.0",%s}\\n' "$1"; }
answer() { put "\\"id\\":$id,\\"result\\":$1"; }
ask() { put "\\"id\\":\\"$1\\",\\"method\\":\\"$1\\",\\"params\\":{\\"sessionId\\":\\"old\\",$2}"; read -r reply; }
update() { put "\\"method\\":\\"session/update\\",\\"params\\":{\\"sessionId\\":\\"old\\",\\"update\\":{\\"sessionUpdate\\":$1}}"; }
call() { update "\\"$1\\",\\"toolCallId\\":\\"call-$word\\",\\"title\\":\\"$word\\",\\"kind\\":\\"$2\\",\\"status\\":\\"$3\\""; }
say() { update "\\"agent_message_chunk\\",\\"content\\":{\\"type\\":\\"text\\",\\"text\\":\\"$1\\"}"; }
turn() {
  echo "given $word" >> "$folder/notes"
  say "$word "
  echo "begun $word" >> "$folder/notes"
  case $word in
    stream*) n=0; while [ $n -lt 60 ]; do n=$((n + 1)); say "$n "; done ;;
    question*)
      call tool_call delete pending
      ask session/request_permission "\\"toolCall\\":{\\"toolCallId\\":\\"call-$word\\"},\\"options\\":[{\\"optionId\\":\\"y\\",\\"name\\":\\"Yes\\",\\"kind\\":\\"allow_once\\"}]"
      call tool_call_update delete completed ;;
    write*)
      n=0; while [ $n -lt 10 ]; do
        n=$((n + 1))
        ask fs/write_text_file "\\"path\\":\\"$folder/$word.txt\\",\\"content\\":\\"$n\\""
        say "$n "
      done ;;
  esac
  echo "ended $word" >> "$folder/notes"
  answer '{"stopReason":"end_turn"}'
}
while read -r line; do
  id=\${line#*'"id":'} id=\${id%%[,\\}]*}
  case $line in
    *'"method":"initialize"'*) answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}' ;;
    *'"method":"session/new"'*) answer '{"sessionId":"old"}' ;;
    *'"method":"session/resume"'* | *'"method":"session/load"'*) answer '{}' ;;
    *'"method":"session/prompt"'*) word=\${line##*'"text":"'} word=\${word%%'"'*}; turn ;;
  esac
done
`;

/** Its folder is removed with the test. */
export function killedAgent(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-killed-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "agent.sh");
  writeFileSync(program, script);
  writeFileSync(join(folder, "notes"), "");
  return {
    folder,
    command: ["/bin/sh", program, folder],
    /** Every process so far, the last one at the end. */
    lives(): readonly number[] {
      const names = readdirSync(folder).filter((name) => name.startsWith("life-"));
      return names.map((name) => Number(name.slice("life-".length)));
    },
    /** How often it has noted this. */
    noted(what: "given" | "begun" | "ended", word: string): number {
      const lines = readFileSync(join(folder, "notes"), "utf8").split("\n");
      return lines.filter((line) => line === `${what} ${word}`).length;
    },
  };
}
