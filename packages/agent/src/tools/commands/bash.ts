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
  description: `Run a shell command. Returns its exit code and output (stdout and stderr combined). It gets no input, and all its processes end when it ends; for a server or other long-running work, set background. Prefer read, grep, find and edit to commands that do the same. In the sandbox, if there is one, the command can write only to the project and /tmp, and connect only to hosts that the user allows. Long output is cut to its last ${maxLines} lines or ${maxBytes / 1024} KB, with the path of a file that contains all of it.`,
  isReadOnly: false,
  draft: { title: "Run a command", kind: "execute" },
  aliases: {
    command: ["cmd", "script"],
    cwd: ["workdir", "working_directory", "workingDirectory", "directory", "dir"],
    timeout: ["timeout_seconds", "timeoutSeconds"],
    background: ["run_in_background", "is_background"],
  },
  ignores: ["description", "explanation"],
  properties: {
    command: { type: "string", minLength: 1, description: "Command line, as for bash -c" },
    timeout: {
      type: "integer",
      minimum: 1,
      maximum: maxSeconds,
      description: `Seconds after which it is stopped. Default ${defaultSeconds}; in the background, no limit`,
    },
    cwd: { type: "string", description: "Directory to run it in. Default: the working directory" },
    outside: {
      type: "boolean",
      description:
        "Run it outside the sandbox, with all rights of the user, who is asked first. Use this only if the command cannot work inside. Default false",
    },
    background: {
      type: "boolean",
      description:
        "Run it in the background and return its id at once; check or stop it with job. Default false",
    },
  },
  required: ["command"],
  async prepare({ command, timeout, cwd: given = ".", outside = false, background = false }, context) {
    const cwd = absolutePath(context, given);
    if ((await context.files.stat(cwd)).kind !== "directory") {
      throw new ToolError(`cwd must be a directory, but ${shownPath(context, cwd)} is not one`);
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
  const modelText = `The command runs in the background as ${id}. Use the job tool to check or stop it. It ends with the session.`;
  return { content: [textPart(modelText)], rawOutput: { id, status: "running" } };
}
