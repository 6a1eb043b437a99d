/** An image's name with Docker's defaults filled in. */
export interface ImageReference {
  /** `docker.io`, `ghcr.io`, `registry.example.com:5000` */
  registry: string;
  /** `library/node` */
  repository: string;
  tag: string;
  /** `sha256:…`; takes precedence over the tag. */
  digest: string | undefined;
}

const registryPattern = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?$/;
const repositoryPattern = /^[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^\w[\w.-]{0,127}$/;
const digestPattern = /^sha256:[0-9a-f]{64}$/;
const maxLength = 512;

/** Parses `[registry/]repository[:tag][@digest]` (distribution/reference); returns undefined for an invalid name. */
export function parseReference(text: string): ImageReference | undefined {
  if (text.length > maxLength) return undefined;
  const [name = '', digest, ...more] = text.split('@');
  const lastColon = name.lastIndexOf(':');
  const hasTag = lastColon > name.lastIndexOf('/');
  const tag = hasTag ? name.slice(lastColon + 1) : 'latest';
  const { registry, repository } = splitName(hasTag ? name.slice(0, lastColon) : name);
  const isValid =
    more.length === 0 &&
    registryPattern.test(registry) &&
    repositoryPattern.test(repository) &&
    tagPattern.test(tag) &&
    (digest === undefined || digestPattern.test(digest));
  return isValid ? { registry, repository, tag, digest } : undefined;
}

/**
 * Splits the name. The part before the first slash is a host if it looks like one; Docker Hub's official images are in
 * `library/`.
 */
function splitName(name: string): { registry: string; repository: string } {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  if (!/[.:]|^localhost$/.test(first) && first === first.toLowerCase()) {
    return { registry: 'docker.io', repository: slash < 0 ? `library/${name}` : name };
  }
  const rest = name.slice(slash + 1);
  if (first !== 'docker.io' && first !== 'index.docker.io') return { registry: first, repository: rest };
  return { registry: 'docker.io', repository: rest.includes('/') ? rest : `library/${rest}` };
}

/** Returns the full name, as in BuildKit's sources: `docker.io/library/node:24`. */
export function formatReference({ registry, repository, tag, digest }: ImageReference): string {
  return `${registry}/${repository}:${tag}${digest === undefined ? '' : `@${digest}`}`;
}
