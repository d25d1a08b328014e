// Recognises variables and headers with secrets, by the words of their names and by their values.

import { patterns } from "./secret-patterns.ts";

/** Words of names whose values are secrets, wherever they stand in the name. */
const secretWords = new Set(
  `apikey apikeys keys tokens auth authorization authtoken bearer cookie cookies cred creds credential credentials dsn htpasswd jwt key
  mnemonic otp pass passcode passphrase passwd password passwords pat pin psk pw pwd secret secrets sk sshpass token
  totp webhook`.split(/\s+/),
);
/** Names of secrets that are often numbers. A number says nothing against them. */
const passwordName = /pass(?:word|wd|code|phrase)|(?:^|[^a-z])(?:pass|pin|psk|pwd?|otp)(?:$|[^a-z])/i;
/** The last word says that it is not the secret itself: a place, a kind, a number, a switch. */
const plainEnds = new Set(
  `algorithm count dir directory enabled file folder format header home id ids length level limit method mode name path
  prefix size sock timeout ttl type version`.split(/\s+/),
);
/** Several words together. */
const secretNames =
  /(?:^|_)(?:connection_?strings?|conn_?str)(?:_|$)|^(?:bw|op)_session(?:_|$)|(?:token|secret|password|passwd|passphrase|(?:db|smtp|mail|ftp|ldap|bind|user|root|admin|redis|mysql|pg)(?:pass|pwd?)|(?:api|private|access|secret|master|signing|encryption)key)\d*$/i;
/** The folder that a shell is in. */
const ofShells = /^(?:OLD)?PWD$/;
/** Not the secret either: an address, unless the address is the secret. */
const address = /_(?:url|uri|endpoint|host|issuer)$/i;
/** `AUTH=true`. */
const plainValue = /^(?:|[01]|true|false|yes|no|on|off|none|auto)$/i;
/** `MAX_TOKENS=4096`. */
const numberValue = /^\d{1,9}$/;

/** `?token=…`, `--password=…`, `X-Api-Key: …`. */
const secretParameter =
  /(?:[?&]|--)(?:\w+[_-])?(?:token|api[_-]?key|password|secret|signature|sig)[= ][^\s&"']{6,}|\bx-[a-z-]*(?:key|token)\s*:/i;
/** `scheme://user:password@host`, `Authorization: …`, `Password=…;`. */
const secretValue =
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/@:"']*:[^\s/@"']+@|\b(?:proxy-)?authorization\s*:|\b(?:bearer|basic)\s+[\w.~+/-]{8,}|(?:^|;)\s*(?:accountkey|sharedaccesskey|sharedaccesssignature|password|pwd)\s*=/i;

/** Names of settings: a model, a region, a place. Their values stand in many other texts. */
const settingName =
  /(?:^|[_-])(?:env|models?|regions?|zone|location|locale|lang|language|level|mode|path|home|dir|directory|folder|root|file|flags|options|version|editor|shell|term|tz|host|port|name|type|format|debug|log|timeout|limit|size|count|enabled|accept|content-type|user-agent)$/i;

/** Whether a variable or header has an ordinary value, by its name. */
export function isSettingName(name: string): boolean {
  return settingName.test(name) && !isSecretName(name);
}

/**
 * Says whether an environment variable or a header holds a secret, by the words of its name and by its value. An empty
 * value, a number and a word such as `true` are no secrets.
 *
 * @param value - Without it, the name decides.
 *
 * @example
 * import { isSecretVariable } from "@parley/acp/redact";
 *
 * const shown = Object.entries(process.env).filter(([name, value]) => !isSecretVariable(name, value));
 * console.log(Object.fromEntries(shown));
 */
export function isSecretVariable(name: string, value?: string): boolean {
  if (ofShells.test(name)) return false;
  if (value !== undefined && plainValue.test(value)) return false;
  if (value !== undefined && numberValue.test(value) && !passwordName.test(name)) return false;
  return isSecretName(name) || (value !== undefined && isSecretValue(value));
}

export function isSecretName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z\d]+/);
  if (plainEnds.has(words.at(-1) ?? "")) return false;
  if (address.test(name) && !words.includes("webhook")) return false;
  return secretNames.test(name) || words.some((word) => secretWords.has(word.replace(/\d+$/, "")));
}

function isSecretValue(value: string): boolean {
  if (secretValue.test(value) || secretParameter.test(value)) return true;
  return patterns.some(({ expression, evident = false, name }) => {
    // the expressions are global: each search starts at the beginning
    expression.lastIndex = 0;
    return (evident || name === "private key") && value.search(expression) >= 0;
  });
}
