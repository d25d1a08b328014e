// A process: an agent that is a puppet. What comes from the given local port goes to stdout, byte for byte, and
// what comes on stdin goes back, so that a test can say anything to the client that started it.

import { connect } from "node:net";

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
