// Recognises a notification without parsing it. Most of what an agent sends is of one method.

/** Begins as a notification that has its members in the usual order and no spaces. */
export function notificationHead(method: string): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":{`;
}

/** Behind the head, an id may make it a request, and a second method another notification. Letters may be escaped. */
const mayBeOther = /"(?:id|method|jsonrpc)"|\\u00/g;

/** Whether the text can be nothing but such a notification, or is not JSON at all. */
export function isNotification(text: string, head: string): boolean {
  if (!text.startsWith(head) || !text.endsWith("}}")) return false;
  mayBeOther.lastIndex = head.length;
  return !mayBeOther.test(text);
}
