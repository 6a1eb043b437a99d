import { canonicalHost, namesOfHost, splitAddress } from '../registry/own-registry.ts';

export interface SourcePolicyInput {
  /** `host[:port][/path]` of Coppice's registry. */
  registry: string;
  /** Name prefix of the repository's own images, including the registry's address. */
  ownImages: string;
  /** Name prefix of images that forks' pull requests build; not for trusted builds. */
  untrustedImages: string;
  trusted: boolean;
  /** Digests of base images by full name: `sha256:…` */
  digests: ReadonlyMap<string, string>;
}

type Action = 'DENY' | 'ALLOW' | 'CONVERT';

export interface PolicyRule {
  action: Action;
  selector: {
    identifier: string;
    match_type: 'EXACT' | 'REGEX';
    constraints?: { key: string; value: string; condition: 'NOTEQUAL' }[];
  };
  updates?: { identifier: string };
}

/** Sources that a Dockerfile can name: images (FROM, COPY --from), and files and Git repositories (ADD). */
const remoteSchemes = ['docker-image', 'git', 'https', 'http'];

/**
 * Returns BuildKit's source policy for one build, as JSON. It denies every source except the build's own files and the
 * schemes that a Dockerfile needs. Coppice's registry holds every group's images, and buildctl has credentials for it,
 * so no scheme can access it, except for images of the build's own repository. Base images are pinned to the digests
 * from which the build's address was computed. The last matching rule decides, and one that converts restarts the
 * evaluation (BuildKit, sourcepolicy/engine.go); identifiers are normalized, except for upper case in a host.
 */
export function sourcePolicy({ registry, ownImages, untrustedImages, trusted, digests }: SourcePolicyInput): string {
  const rules: PolicyRule[] = [
    rule('DENY', '^'),
    rule('ALLOW', '^local://'),
    rule('ALLOW', `^(?:${remoteSchemes.map(escaped).join('|')})://`),
    rule('DENY', insideRegistry(registry)),
    // A Git source can name a blob of a registry instead of the repository, fetched with the registry's credentials.
    {
      ...rule('DENY', '^git://'),
      selector: { ...rule('DENY', '^git://').selector, constraints: [notEmpty('git.bundle')] },
    },
    ...own(trusted, ownImages, untrustedImages),
    ...[...digests].map(([name, digest]): PolicyRule => ({
      action: 'CONVERT',
      selector: { identifier: `docker-image://${name}`, match_type: 'EXACT' },
      updates: { identifier: `docker-image://${name}@${digest}` },
    })),
  ];
  return JSON.stringify({ rules });
}

function own(trusted: boolean, ownImages: string, untrustedImages: string): PolicyRule[] {
  const below = (images: string) => `^docker-image://${escaped(images)}`;
  return trusted
    ? [rule('ALLOW', below(ownImages)), rule('DENY', below(untrustedImages))]
    : [rule('ALLOW', below(untrustedImages))];
}

function rule(action: Action, identifier: string): PolicyRule {
  return { action, selector: { identifier, match_type: 'REGEX' } };
}

function notEmpty(key: string): { key: string; value: string; condition: 'NOTEQUAL' } {
  return { key, value: '', condition: 'NOTEQUAL' };
}

/**
 * Returns a pattern of everything in the registry for any scheme, every spelling of its host, with or without a user
 * name.
 */
function insideRegistry(registry: string): string {
  const { host, path } = splitAddress(registry);
  const [, name = '', port = ''] = /^(.*?)(?::(\d+))?$/.exec(canonicalHost(host)) ?? [];
  const ports = port === '' ? '(?::0*(?:80|443))?' : `:0*${port}`;
  const below = path === '' ? '(?:[/?#@]|$)' : `/(?:v2/)?${escaped(path)}(?:[/?#@:]|$)`;
  const names = namesOfHost(name).map(escaped).join('|');
  return `^[a-z0-9+.-]+://(?i:(?:[^/]*@)?(?:${names})\\.?${ports}${below})`;
}

/** Returns the text as a regular expression for Go and JavaScript. */
function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
