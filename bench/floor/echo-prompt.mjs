// The least that a prompt can do: writes its line again after each key. It ends with Ctrl-D.

let text = "";
const draw = () => process.stdout.write(`\r\x1b[K> ${text === "" ? "write" : text}`);
process.stdin.setRawMode(true);
process.stdin.setEncoding("utf8").on("data", (keys) => {
  if (keys.includes("\u0004")) process.exit();
  for (const key of keys) text = key === "\u0015" ? "" : text + key;
  draw();
});
draw();
