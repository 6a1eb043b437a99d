import type { Repository } from '../repository.ts';

/** The longest service file that the CRD takes, of characters that take two bytes of the heap. */
const content = 'あ'.repeat(131_072);

/** Returns a Repository whose settings hold the largest service file. */
export function largeRepository(number: number): Repository {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Repository',
    metadata: { namespace: 'group-acme', name: `r${number}`, resourceVersion: `${number + 2}` },
    spec: {
      type: 'generic',
      generic: { origin: 'https://git.example/a.git' },
      serviceFile: { mode: 'both', content },
    },
  };
}
