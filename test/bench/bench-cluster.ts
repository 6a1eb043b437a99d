import type { Harness } from '../end-to-end/harness.ts';

/** The web address of a host that the Ingress controller serves. */
export function addressOf({ connection }: Harness, host: string): string {
  const { port } = new URL(connection.ingressUrl);
  return `http://${host}${port === '' ? '' : `:${port}`}/`;
}

/** Takes away what a benchmark made: the baseline's namespaces, which begin with `namespace`, and the harness's groups. */
export async function removeAll(harness: Harness, namespace: string): Promise<void> {
  const namespaces = await harness.kubectl(['get', 'namespaces', '-o', 'name']);
  const mine = namespaces.split('\n').filter((name) => name.startsWith(`namespace/${namespace}`));
  if (mine.length > 0) await harness.kubectl(['delete', '--wait=false', ...mine]);
  await harness.removeAndWait();
}
