/** Bytes of each unit of Compose, all based on 1024, and of Kubernetes (`Mi`). */
const units = new Map([
  ['', 1],
  ['b', 1],
  ['k', 2 ** 10],
  ['kb', 2 ** 10],
  ['ki', 2 ** 10],
  ['kib', 2 ** 10],
  ['m', 2 ** 20],
  ['mb', 2 ** 20],
  ['mi', 2 ** 20],
  ['mib', 2 ** 20],
  ['g', 2 ** 30],
  ['gb', 2 ** 30],
  ['gi', 2 ** 30],
  ['gib', 2 ** 30],
  ['t', 2 ** 40],
  ['tb', 2 ** 40],
  ['ti', 2 ** 40],
  ['tib', 2 ** 40],
]);

/** Parses an amount of memory or storage (`512m`, `1.5G`, `1024`) to bytes; returns undefined if it is not valid. */
export function parseBytes(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,15}(?:\.\d{1,9})?) ?([A-Za-z]{0,3})$/.exec(text) ?? [];
  const factor = units.get(unit.toLowerCase());
  return digits === '' || factor === undefined ? undefined : Math.ceil(Number(digits) * factor);
}

/** Formats bytes as a quantity of Kubernetes: `512Mi`, or bytes if no unit divides them. */
export function bytesQuantity(bytes: number): string {
  for (const [unit, factor] of [
    ['Gi', 2 ** 30],
    ['Mi', 2 ** 20],
    ['Ki', 2 ** 10],
  ] as const) {
    if (bytes >= factor && bytes % factor === 0) return `${bytes / factor}${unit}`;
  }
  return String(bytes);
}

/** Parses a number of CPUs (`0.5`, `2`) to thousandths, rounded up; returns undefined if it is not valid. */
export function parseCpus(text: string): number | undefined {
  return /^(\d{1,6}(\.\d{0,9})?|\.\d{1,9})$/.test(text)
    ? Math.ceil(Number((Number(text) * 1000).toFixed(6)))
    : undefined;
}

/** Formats thousandths of a CPU as a quantity of Kubernetes: `2`, `500m`. */
export function cpuQuantity(thousandths: number): string {
  return thousandths % 1000 === 0 ? String(thousandths / 1000) : `${thousandths}m`;
}
