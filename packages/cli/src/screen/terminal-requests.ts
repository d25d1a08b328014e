// The sequences by which a terminal shows a notice of the desktop or fills the clipboard.

/** Terminals take no more. */
const mostCopied = 74_000;

/** `text` is one safe line. */
export function noticeSequence(text: string, environment: NodeJS.ProcessEnv): string {
  const shown = text.slice(0, 200);
  const { TERM_PROGRAM: program = "", TERM: kind = "" } = environment;
  if (kind.includes("kitty")) return passed(`\u001b]99;;${shown}\u001b\\`, environment);
  const isNine =
    /iterm|wezterm|ghostty|windows|vscode/i.test(program) || environment.WT_SESSION !== undefined;
  // a semicolon would begin another field
  const body = isNine ? `9;${shown}` : `777;notify;parley;${shown.replaceAll(";", ",")}`;
  return passed(`\u001b]${body}\u0007`, environment);
}

/** Empty if the text is too long for a terminal. tmux has a clipboard of its own and passes it on. */
export function copySequence(text: string): string {
  const encoded = Buffer.from(text).toString("base64");
  return encoded.length > mostCopied ? "" : `\u001b]52;c;${encoded}\u0007`;
}

/** tmux passes on what is wrapped, where its option allow-passthrough is on. */
function passed(sequence: string, { TMUX: tmux }: NodeJS.ProcessEnv): string {
  if (tmux === undefined || tmux === "") return sequence;
  return `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`;
}
