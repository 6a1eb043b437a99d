const factors: Record<string, number> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** What bytesOf() takes. */
export const storagePattern = /^(\d+(?:\.\d+)?)([kMGT]|[KMGT]i)?$/;

/** The bytes of a Kubernetes quantity of storage such as `20Gi`; throws RangeError for anything else. */
export function bytesOf(quantity: string): number {
  const [, digits = '', unit = ''] = storagePattern.exec(quantity) ?? [];
  const factor = factors[unit];
  if (digits === '' || factor === undefined) throw new RangeError(`${quantity} is no amount of storage such as 20Gi`);
  return Number(digits) * factor;
}
