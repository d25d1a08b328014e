// Recognises a notification without parsing it. Most of what an agent sends is of one method.

/** Begins as a notification that has its members in the usual order and no spaces. */
export function notificationHead(method: string): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":{`;
}

/** An id anywhere makes it a message to read: it might be a request's. */
const mayHaveId = /"id"|\\u00/;

/** Whether the text can be nothing but such a notification, or is not JSON at all. */
export function isNotification(text: string, head: string): boolean {
  return text.startsWith(head) && text.endsWith("}}") && !mayHaveId.test(text);
}
