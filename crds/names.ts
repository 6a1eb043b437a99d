import { createHash } from 'node:crypto';
import type { GitRef } from './git-ref.ts';
import { gitRefKey } from './git-ref.ts';
import type { ResourceId } from './ids.ts';

/** The longest label that `env-` still fits before, within the 63 characters of a DNS label (RFC 1035). */
const labelLimit = 59;
const environmentNameLimit = 50;
const hashLength = 16;

/**
 * Returns the hash of a text for a name: 80 bits of SHA-256 as 16 characters of base32 (RFC 4648, lower case). Whoever
 * chooses two names finds two of equal hash after 2^40 tries at the least, and one that meets another's after 2^80; of 40
 * bits that took seconds.
 */
export function nameHash(text: string): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  const number = BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 20)}`);
  const digits = Array.from({ length: hashLength }, (_, at) => Number((number >> BigInt(5 * at)) & 31n));
  return digits.map((digit) => alphabet[digit]).join('');
}

/** Returns `<text>-<hash>` of at most `limit` characters, the hash being that of `of`. */
export function hashedName(text: string, of: string, limit: number): string {
  const readable = text.slice(0, limit - hashLength - 1).replace(/-+$/, '');
  return readable === '' ? nameHash(of) : `${readable}-${nameHash(of)}`;
}

/** Lower case, everything else than letters and digits one dash; may be empty. */
export function slug(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

/**
 * The label that an environment's host and namespace are made of: `<name>--<group>`, which no other id can give, or,
 * where it would be ambiguous, reserved (RFC 5891 keeps `??--`) or too long, a shortened form with a hash, which holds
 * no `--` and so cannot meet the first.
 */
export function environmentLabel(id: ResourceId): string {
  const plain = `${id.name}--${id.group}`;
  const unambiguous = !id.name.includes('--') && !id.group.includes('--') && id.name.length !== 2;
  if (unambiguous && plain.length <= labelLimit) return plain;
  return hashedName(slug(plain), `${id.group}.${id.name}`, labelLimit);
}

export function environmentNamespace(id: ResourceId): string {
  return `env-${environmentLabel(id)}`;
}

export function environmentHost(id: ResourceId, domain: string): string {
  return `${environmentLabel(id)}.${domain}`;
}

/** Between an alias and its environment's label: no such label holds it, so that none is ever another's alias. */
const aliasSeparator = '---';

/**
 * The host of an environment's alias, one label below `domain` as every other host, so that one wildcard certificate
 * serves all. No other environment's host or alias is ever the same: what stands after the separator is the label, or,
 * where the host would be too long, not a host name, or reserved (RFC 5891 keeps `??--`), a hash that no label can be,
 * for each of those holds a `-`.
 */
export function environmentAliasHost(id: ResourceId, alias: string, domain: string): string {
  const label = environmentLabel(id);
  const plain = `${alias}${aliasSeparator}${label}`;
  if (slug(alias) === alias && alias.length > 2 && plain.length <= 63) return `${plain}.${domain}`;
  const readable = slug(`alias-${alias}`).slice(0, 40).replace(/-+$/, '');
  return `${readable}${aliasSeparator}${nameHash(`${label}/${alias}`)}.${domain}`;
}

/** The web address of an environment's alias below `base`; as environmentUrl. */
export function environmentAliasUrl(base: URL, id: ResourceId, alias: string): string {
  return `${base.protocol}//${environmentAliasHost(id, alias, base.host)}/`;
}

/** The web address of an environment below `base`, such as `http://env.localhost:8080`. */
export function environmentUrl(base: URL, id: ResourceId): string {
  return `${base.protocol}//${environmentLabel(id)}.${base.host}/`;
}

/** Where built images go, and how they are named there. */
export interface ImageRegistry {
  /** `host[:port][/path]` */
  address: string;
  /** `nested`: GROUP/REPOSITORY/SERVICE; `flat`: GROUP.REPOSITORY.SERVICE, for registries that have no folders. */
  layout: 'nested' | 'flat';
}

const separators = { nested: '/', flat: '.' } as const;

/**
 * Returns what the names of all images of a repository begin with, and of no other one's: names of groups, repositories
 * and services hold neither separator. What forks' pull requests build has a prefix of its own.
 */
export function imagePrefix({ address, layout }: ImageRegistry, repository: ResourceId, trusted = true): string {
  const parts = [repository.group, repository.name, ...(trusted ? [] : ['untrusted']), ''];
  return `${address}/${parts.join(separators[layout])}`;
}

/** Where a service's images stand in the registry: a path of its own for each repository, so that none meets another. */
export function imageRepository(
  registry: ImageRegistry,
  repository: ResourceId,
  service: string,
  trusted = true,
): string {
  return `${imagePrefix(registry, repository, trusted)}${service}`;
}

/** Returns the group that an image is of, by its path below the registry's address; undefined for others' images. */
export function groupOfImage({ layout }: Pick<ImageRegistry, 'layout'>, path: string): string | undefined {
  const parts = path.split(separators[layout]);
  return parts.length === 3 || parts.length === 4 ? parts[0] : undefined;
}

/**
 * The resource name for an environment of this ref: stable, and of this ref alone. A hash is added when the ref's name
 * had to be changed to fit.
 */
export function environmentName(repository: string, ref: GitRef): string {
  const readable = ref.type === 'branch' ? ref.name : `${ref.type === 'tag' ? 'tag' : 'pr'}-${ref.name}`;
  const plain = `${repository}-${readable}`;
  const exact = slug(plain) === plain && plain.length <= environmentNameLimit && ref.type === 'branch';
  if (exact) return plain;
  return hashedName(slug(plain), gitRefKey(ref), environmentNameLimit);
}

/** The name for an environment of this ref where another repository's, or another ref's, has taken environmentName(). */
export function environmentNameBeside(repository: string, ref: GitRef): string {
  return hashedName(slug(environmentName(repository, ref)), `${repository}/${gitRefKey(ref)}`, environmentNameLimit);
}
