// Formats the cost of a session.

/**
 * The cost of a session as a text: with two decimals, or two digits of a small amount. Sums of floating-point numbers have many more.
 *
 * @example
 * import { costText } from "@parley/client/history";
 *
 * console.log(costText({ amount: 0.1 + 0.2, currency: "USD" })); // 0.30 USD
 */
export function costText({
  amount,
  currency,
}: {
  readonly amount: number;
  readonly currency: string;
}): string {
  const isSmall = amount > 0 && amount < 0.1;
  const decimals = isSmall ? Math.min(1 - Math.floor(Math.log10(amount)), 8) : 2;
  return `${amount.toFixed(decimals).replace(isSmall ? /0+$/ : /$^/, "")} ${currency}`;
}
