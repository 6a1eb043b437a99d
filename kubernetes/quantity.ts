const binary = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 };
const decimal = { n: 1e-9, u: 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
const suffixes = new Map<string, number>([...Object.entries(binary), ...Object.entries(decimal)]);

/** Returns the value of a quantity such as `512Mi`, `500m` or `1e3`; NaN if the text is not a quantity. */
export function quantityValue(quantity: string): number {
  const parts = /^([+-]?\d*\.?\d+(?:[eE][+-]?\d+)?|[+-]?\d+\.)([a-zA-Z]*)$/.exec(quantity);
  return Number(parts?.[1] ?? Number.NaN) * (suffixes.get(parts?.[2] ?? '') ?? Number.NaN);
}

/** Returns the smaller quantity; the first one if either is not a quantity. */
export function smaller(a: string, b: string): string {
  return quantityValue(b) < quantityValue(a) ? b : a;
}
