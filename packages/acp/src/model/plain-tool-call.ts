// Recognises the JSON of tool calls that have nothing but plain fields. It says the same in all versions, and need not be parsed.

/** A change of a tool call that has not been parsed. */
export interface PlainToolCall {
  readonly json: string;
  readonly toolCallId: string;
  readonly hasTitle: boolean;
  readonly hasContent: boolean;
  readonly hasEnded: boolean;
}

const chars = String.raw`[^"\\\u0000-\u001f]*`;
const string = String.raw`"${chars}(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})${chars})*"`;
const scalar = String.raw`(?:${string}|-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false)`;
// below, these keys would be taken for those of the call
const key = `(?!"(?:title|content|status)")${string}`;
const raw = String.raw`(?:${scalar}|\{(?:${key}:${scalar}(?:,${key}:${scalar})*)?\})`;
const block = String.raw`\{"type":"content","content":\{"type":"text","text":${string}\}\}`;
const location = String.raw`\{"path":${string}(?:,"line":[1-9]\d*)?\}`;
const listOf = (item: string) => String.raw`\[(?:${item}(?:,${item})*)?\]`;
/** No null, which version 1 does not have, and only values that version 1 knows. */
const fields = [
  `"(?:title|name)":${string}`,
  '"kind":"(?:read|edit|delete|move|search|execute|think|fetch|switch_mode|other)"',
  '"status":"(?:pending|in_progress|completed|failed)"',
  `"raw(?:Input|Output)":${raw}`,
  `"locations":${listOf(location)}`,
  `"content":${listOf(block)}`,
];
const head = '{"sessionUpdate":"tool_call_update","toolCallId":"';
const plain = new RegExp(
  String.raw`^\{"sessionUpdate":"tool_call_update","toolCallId":"[^"\\\u0000-\u001f]+"(?:,(?:${fields.join("|")}))*\}$`,
);

/** A regular expression needs memory for each character. */
const maxLength = 256 * 1024;

/** Undefined for any other JSON, and for what has other fields or deeper values: that has to be parsed. */
export function plainToolCallIn(json: string): PlainToolCall | undefined {
  if (!json.startsWith(head) || json.length > maxLength || !plain.test(json)) return undefined;
  return {
    json,
    toolCallId: json.slice(head.length, json.indexOf('"', head.length)),
    // a quote inside a string has a backslash before it
    hasTitle: json.includes(',"title":"'),
    hasContent: json.includes(',"content":['),
    hasEnded: json.includes(',"status":"completed"') || json.includes(',"status":"failed"'),
  };
}
