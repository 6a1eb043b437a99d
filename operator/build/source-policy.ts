/**
 * BuildKit's source policy for one build: Coppice's registry holds every group's images, and buildctl carries
 * credentials for it, so a Dockerfile may take nothing from there but what its own repository built.
 * The last rule that matches decides (BuildKit, docs/build-repro.md).
 */
export function sourcePolicy(registry: string, ownImages: string): string {
  const rule = (action: 'DENY' | 'ALLOW', identifier: string) => ({
    action,
    selector: { identifier, match_type: 'WILDCARD' },
  });
  return JSON.stringify({
    rules: [rule('DENY', `docker-image://${registry}/*`), rule('ALLOW', `docker-image://${registry}/${ownImages}/*`)],
  });
}
