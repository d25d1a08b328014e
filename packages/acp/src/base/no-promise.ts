// The result of a callback that nothing awaits.

/**
 * The result of a listener is ignored, so it may be anything but a promise, such as the number that `push` returns.
 *
 * @inline
 */
export type NoPromise = Nothing | null | boolean | number | string | (object & { readonly then?: never });

/**
 * No result, or none that is known.
 *
 * @inline
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement; `void` alone takes promises
type Nothing = undefined | void;
