/** One line of a page in Prometheus' text format. */
export interface Sample {
  labels: Record<string, string>;
  value: number;
}

/** Returns the samples of one metric; none if the page does not have it. */
export function samplesOf(page: string, name: string): Sample[] {
  const found: Sample[] = [];
  for (const line of page.split('\n')) {
    if (!line.startsWith(name)) continue;
    const match = /^(?:\{(.*)\})? (\S+)/.exec(line.slice(name.length));
    if (match) found.push({ labels: labelsIn(match[1] ?? ''), value: Number(match[2]) });
  }
  return found;
}

/** Returns the sum of the samples with these labels. */
export function sumOf(page: string, name: string, labels: Record<string, string> = {}): number {
  const wanted = Object.entries(labels);
  return samplesOf(page, name)
    .filter((sample) => wanted.every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

function labelsIn(text: string): Record<string, string> {
  const pairs = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...pairs].map(([, label = '', value = '']) => [label, value]));
}
