// The keys and the commands of a conversation: one table for the face, the help and the docs.

/** The effect of a key or a command. */
export type ChatAction =
  | "send"
  | "newline"
  | "steer"
  | "stop"
  | "clear"
  | "leave"
  | "help"
  | "transcript"
  | "sessions"
  | "agents"
  | "mode"
  | "modes"
  | "models"
  | "options"
  | "history"
  | "editor"
  | "image"
  | "queue"
  | "files"
  | "review"
  | "undo"
  | "redo"
  | "new"
  | "fork"
  | "rename"
  | "export"
  | "copy"
  | "theme"
  | "restart"
  | "redraw"
  | "suspend"
  | "previousPrompt"
  | "rewind"
  | "context"
  | "clearContext"
  | "compact"
  | "palette"
  | "deleteLine"
  | "focus";

export interface ChatKey {
  /** Names as in KeyPress.id. */
  readonly keys: readonly string[];
  readonly action: ChatAction;
  readonly help: string;
}

export interface ChatCommand {
  /** Without the slash. */
  readonly name: string;
  readonly action: ChatAction;
  /** The words that may follow, such as `[TITLE]`. */
  readonly hint?: string;
  readonly help: string;
}

export const chatKeys: readonly ChatKey[] = [
  { keys: ["enter"], action: "send", help: "send the prompt; while the agent works, add it to the queue" },
  { keys: ["shift+enter", "ctrl+j"], action: "newline", help: "begin a new line" },
  { keys: ["alt+enter"], action: "steer", help: "send the prompt at once, while the agent works" },
  { keys: ["escape"], action: "stop", help: "stop the turn; press again to force it" },
  { keys: ["escape escape"], action: "rewind", help: "at an empty prompt: go back to an earlier prompt" },
  {
    keys: ["ctrl+c"],
    action: "clear",
    help: "clear the prompt, or stop the turn; press twice at an empty prompt to leave",
  },
  { keys: ["ctrl+d"], action: "leave", help: "leave, if the prompt is empty" },
  { keys: ["tab"], action: "focus", help: "complete a name; switch between an open question and the prompt" },
  { keys: ["ctrl+k"], action: "palette", help: "list all commands with their keys; type to filter" },
  { keys: ["f1"], action: "help", help: "show this help (also ? at an empty prompt)" },
  { keys: ["ctrl+o"], action: "transcript", help: "show the whole transcript: fold, search, jump, copy" },
  {
    keys: ["alt+up", "ctrl+up"],
    action: "previousPrompt",
    help: "show your last prompt in the transcript; press again for the one before",
  },
  { keys: ["ctrl+p"], action: "sessions", help: "find a session of any agent" },
  { keys: ["alt+a"], action: "agents", help: "start a session with another agent" },
  { keys: ["shift+tab"], action: "mode", help: "switch to the next mode" },
  { keys: ["alt+m"], action: "models", help: "change the model" },
  { keys: ["alt+o"], action: "options", help: "change an option of the agent" },
  { keys: ["ctrl+r"], action: "history", help: "search earlier prompts" },
  { keys: ["alt+k"], action: "deleteLine", help: "delete to the end of the line" },
  { keys: ["ctrl+g"], action: "editor", help: "write the prompt in $EDITOR" },
  { keys: ["ctrl+v"], action: "image", help: "paste an image" },
  { keys: ["alt+q"], action: "queue", help: "edit, move or delete waiting prompts" },
  { keys: ["alt+t"], action: "files", help: "list the files that the agent touched" },
  { keys: ["alt+r"], action: "review", help: "review the changes" },
  { keys: ["ctrl+l"], action: "redraw", help: "draw the screen again" },
  { keys: ["ctrl+z"], action: "suspend", help: "back to the shell; `fg` goes on" },
];

export const chatCommands: readonly ChatCommand[] = [
  { name: "help", action: "help", help: "list the keys and commands" },
  { name: "new", action: "new", hint: "[AGENT]", help: "start a new session" },
  { name: "resume", action: "sessions", hint: "[TEXT]", help: "find a session and continue it" },
  { name: "agent", action: "agents", hint: "[NAME]", help: "start a session with another agent" },
  { name: "mode", action: "modes", hint: "[NAME]", help: "change the mode" },
  { name: "model", action: "models", hint: "[NAME]", help: "change the model" },
  { name: "options", action: "options", help: "change an option of the agent" },
  { name: "review", action: "review", help: "keep or undo what the session changed, hunk by hunk" },
  { name: "undo", action: "undo", help: "take back the last turn that changed files" },
  { name: "redo", action: "redo", help: "put back what the last undo took back" },
  {
    name: "rewind",
    action: "rewind",
    hint: "[undo]",
    help: "go back to an earlier prompt, with the files as they were",
  },
  { name: "files", action: "files", help: "list the files that the agent touched" },
  { name: "queue", action: "queue", help: "edit, move or delete waiting prompts" },
  { name: "fork", action: "fork", help: "continue in a copy of the session" },
  { name: "clear", action: "clearContext", help: "begin a new session with the same agent, mode and model" },
  { name: "compact", action: "compact", help: "replace the conversation with a summary, if the agent can" },
  { name: "context", action: "context", help: "show what fills the context" },
  { name: "rename", action: "rename", hint: "TITLE", help: "rename the session" },
  {
    name: "export",
    action: "export",
    hint: "[FILE]",
    help: "write the transcript to a file (.md, .html or .json)",
  },
  { name: "copy", action: "copy", help: "copy the last answer" },
  { name: "theme", action: "theme", hint: "[NAME]", help: "change the colours" },
  { name: "restart", action: "restart", help: "start the agent again and continue" },
  { name: "quit", action: "leave", help: "leave" },
];
