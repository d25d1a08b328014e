// Formats the cost of a session.

/** Two decimals, or two digits of a small amount: sums of floating-point numbers have many more. */
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
