// A proxy as others write them, which ends its process when a prompt says so.

import { serveStdio } from "@parley/acp/node";
import { proxy } from "@parley/acp/proxy";

const dying = proxy({
  name: "dying",
  version: "1.0.0",
  prompt({ content }) {
    if (JSON.stringify(content).includes("die now")) process.exit(9);
    return { content: [...content, { type: "text", text: `seen by ${process.pid}` }] };
  },
});

await serveStdio(dying);
