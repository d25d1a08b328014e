// The `bash` tool: runs a shell command, in the foreground or as a background job.

import { defineTool, textPart } from "../base/define-tool.ts";
import { type JobCommand, type RunContext, ToolError, type ToolResult } from "../base/tool.ts";
import { maxBytes, maxLines } from "../base/truncation.ts";
import { absolutePath, shownPath } from "../base/workspace-path.ts";
import { runCommand } from "./run-command.ts";

const defaultSeconds = 120;
const maxSeconds = 3_600;

export const bashTool = defineTool({
  name: "bash",
  description: `Runs a shell command and gives its output, stdout and stderr as one, and its exit code. Nothing can be typed into it, and what it leaves in the background ends with it: use background for what must go on, such as a server. It runs in a sandbox where one can start: it can write to the project and to /tmp only, and reach hosts only after the user allowed them. Of a long output the last ${maxLines} lines or ${maxBytes / 1024} KB are given, and the name of a file with all of it.`,
  isReadOnly: false,
  properties: {
    command: { type: "string", minLength: 1, description: "As for bash -c" },
    timeout: {
      type: "integer",
      minimum: 1,
      maximum: maxSeconds,
      description: `Seconds after which it is ended. Default ${defaultSeconds}, in the background none`,
    },
    cwd: { type: "string", description: "Where to run it. Default: the working directory" },
    outside: {
      type: "boolean",
      description:
        "Run it outside the sandbox, with all rights of the user, who is asked. Only for what cannot work inside. Default false",
    },
    background: {
      type: "boolean",
      description: "Run it beside the conversation and give its id at once; see the tool job",
    },
  },
  required: ["command"],
  async prepare({ command, timeout, cwd: given = ".", outside = false, background = false }, context) {
    const cwd = absolutePath(context, given);
    if ((await context.files.stat(cwd)).kind !== "directory") {
      throw new ToolError(`cwd must be a directory, ${shownPath(context, cwd)} is none`);
    }
    return {
      presentation: { title: command, kind: "execute" },
      access: { type: "run", command, cwd, ...(outside && { isOutside: true }) },
      run: (run) =>
        background
          ? startJob(run, { command, cwd, seconds: timeout, isOutside: outside })
          : runCommand(run, { command, cwd, seconds: timeout ?? defaultSeconds, isOutside: outside }),
    };
  },
});

async function startJob(context: RunContext, command: JobCommand): Promise<ToolResult> {
  context.signal.throwIfAborted();
  const { id } = await context.jobs.start(context, command);
  const modelText = `It runs in the background as ${id}. The tool job says how it is doing, and can stop it; it ends with the session.`;
  return { content: [textPart(modelText)], rawOutput: { id, status: "running" } };
}
