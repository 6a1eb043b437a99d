export interface SourcePolicyInput {
  registry: string;
  /** The folder that the repository's own images are in, the registry's address included. */
  ownImages: string;
  /** The folder of those that forks' pull requests build: not for a trusted build. */
  untrustedImages: string;
  trusted: boolean;
  /** Base images by whole name: `sha256:…` */
  digests: ReadonlyMap<string, string>;
}

/**
 * BuildKit's source policy for one build. Coppice's registry holds every group's images, and buildctl carries
 * credentials for it, so a Dockerfile may take nothing from there but what its own repository built. Base images are
 * those that the build's address was made of, though their names may move on meanwhile. The last rule that matches
 * decides (BuildKit, docs/build-repro.md).
 */
export function sourcePolicy({ registry, ownImages, untrustedImages, trusted, digests }: SourcePolicyInput): string {
  const rule = (action: 'DENY' | 'ALLOW', images: string) => ({
    action,
    selector: { identifier: `docker-image://${images}/*`, match_type: 'WILDCARD' },
  });
  const pins = [...digests].map(([name, digest]) => ({
    action: 'CONVERT',
    selector: { identifier: `docker-image://${name}`, match_type: 'EXACT' },
    updates: { identifier: `docker-image://${name}@${digest}` },
  }));
  const own = trusted ? [rule('ALLOW', ownImages), rule('DENY', untrustedImages)] : [rule('ALLOW', untrustedImages)];
  return JSON.stringify({ rules: [rule('DENY', registry), ...own, ...pins] });
}
