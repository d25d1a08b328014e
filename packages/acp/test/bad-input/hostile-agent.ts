// A program: an agent that copies a local port to stdout and stdin back, so that a test can send any bytes to the client.

import { closeSync } from "node:fs";
import { connect } from "node:net";

// an agent without a descriptor of its own: what it writes to stdout is read at once
closeSync(3);

const socket = connect({
  port: Number(process.argv[2]),
  host: "127.0.0.1",
  allowHalfOpen: true,
  noDelay: true,
});
process.stdin.pipe(socket);
socket.pipe(process.stdout);
// a pipe never ends stdout by itself
socket.on("end", () => process.stdout.end());
// the test is over; so are we
socket.on("error", () => process.exit());
