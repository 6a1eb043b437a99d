import { canonicalHost, splitAddress } from '../registry/own-registry.ts';

export interface SourcePolicyInput {
  /** `host[:port][/path]` of Coppice's registry. */
  registry: string;
  /** What the names of the repository's own images begin with, the registry's address included. */
  ownImages: string;
  /** What the names of those begin with that forks' pull requests build: not for a trusted build. */
  untrustedImages: string;
  trusted: boolean;
  /** Base images by whole name: `sha256:…` */
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

/** What a Dockerfile can name: images (FROM, COPY --from), and files and Git repositories of the web (ADD). */
const remoteSchemes = ['docker-image', 'git', 'https', 'http'];

/**
 * Returns BuildKit's source policy for one build, as JSON. Every source is denied but the build's own files and the
 * schemes that a Dockerfile needs. Coppice's registry holds every group's images, and buildctl carries credentials for
 * it, so no scheme leads there, except to images of the build's own repository. Base images are pinned to the digests
 * that the build's address was made of. The last rule that matches decides, and one that converts starts anew
 * (BuildKit, sourcepolicy/engine.go); the identifiers that it compares are normalized, but keep a host's upper case.
 */
export function sourcePolicy({ registry, ownImages, untrustedImages, trusted, digests }: SourcePolicyInput): string {
  const rules: PolicyRule[] = [
    rule('DENY', '^'),
    rule('ALLOW', '^local://'),
    rule('ALLOW', `^(?:${remoteSchemes.map(escaped).join('|')})://`),
    rule('DENY', insideRegistry(registry)),
    // A Git source may name a blob of a registry instead of the repository, fetched with the registry's credentials.
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

/** Matches what any scheme names in the registry: in every spelling of its host, with a user name or without. */
function insideRegistry(registry: string): string {
  const { host, path } = splitAddress(registry);
  const [, name = '', port = ''] = /^(.*?)(:\d+)?$/.exec(canonicalHost(host)) ?? [];
  const ports = port === '' ? '(?::(?:80|443))?' : escaped(port);
  const below = path === '' ? '(?:[/?#@]|$)' : `/(?:v2/)?${escaped(path)}(?:[/?#@:]|$)`;
  return `^[a-z0-9+.-]+://(?i:(?:[^/]*@)?${escaped(name)}\\.?${ports}${below})`;
}

/** The text as a regular expression that Go and JavaScript read alike. */
function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
