// The `job` tool: reports on a background command or stops it.

import { defineTool } from "../base/define-tool.ts";

export const jobTool = defineTool({
  name: "job",
  description:
    "Says how a command is doing that bash runs in the background: whether it runs, its exit code, the end of its output. With stop it is ended first, with all that it started.",
  isReadOnly: false,
  properties: {
    id: { type: "string", minLength: 1, description: "As bash gave it, such as job-1" },
    stop: { type: "boolean", description: "End it. Default false" },
  },
  required: ["id"],
  prepare: ({ id, stop = false }) => ({
    presentation: { title: stop ? `Stop ${id}` : `Look at ${id}`, kind: stop ? "execute" : "read" },
    // the user has already allowed the command
    access: { type: "none" },
    async run({ jobs }) {
      if (stop) await jobs.end(id);
      return jobs.look(id);
    },
  }),
});
