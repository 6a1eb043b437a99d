/** An image or chart in a registry. */
export interface Published {
  /** Name with the registry, without a tag. */
  name: string;
  digest: string;
}

/** Returns the notes of a release as Markdown: its changes, and what was published. */
export function releaseNotes(changes: string, published: readonly Published[]): string {
  const rows = published.map(({ name, digest }) => `| \`${name}\` | \`${digest}\` |`);
  const table = ['## Images and chart', `| name | digest |\n|---|---|\n${rows.join('\n')}`];
  return [
    changes,
    ...(published.length > 0 ? table : []),
    'All of it is signed, with provenance (SLSA) and bill of materials (CycloneDX): docs/how-to/verify-a-release.md',
  ]
    .join('\n\n')
    .concat('\n');
}
