import { createHash } from 'node:crypto';
import type { GitRef } from './git-ref.ts';
import { gitRefKey } from './git-ref.ts';
import type { ResourceId } from './ids.ts';

/** The longest label that `env-` still fits before, within the 63 characters of a DNS label (RFC 1035). */
const labelLimit = 59;
const environmentNameLimit = 50;
const hashLength = 16;

/**
 * Returns the hash of a text for a name: 80 bits of SHA-256 as 16 characters of base32 (RFC 4648, lower case). Finding
 * two names with equal hashes takes at least 2^40 tries, matching another's name 2^80; with 40 bits that took seconds.
 */
export function nameHash(text: string): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  const number = BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 20)}`);
  const digits = Array.from({ length: hashLength }, (_, at) => Number((number >> BigInt(5 * at)) & 31n));
  return digits.map((digit) => alphabet[digit]).join('');
}

/** Returns `<text>-<hash>` with at most `limit` characters; the hash is that of `of`. */
export function hashedName(text: string, of: string, limit: number): string {
  const readable = text.slice(0, limit - hashLength - 1).replace(/-+$/, '');
  return readable === '' ? nameHash(of) : `${readable}-${nameHash(of)}`;
}

/** Returns the text in lower case, with a dash for everything except letters and digits; may be empty. */
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

/**
 * Separates an alias from its environment's label. No label contains it, so that an alias cannot equal another
 * environment's label.
 */
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

/** Returns the web address of an environment's alias below `base`. */
export function environmentAliasUrl(base: URL, id: ResourceId, alias: string): string {
  return `${base.protocol}//${environmentAliasHost(id, alias, base.host)}/`;
}

/** Returns the web address of an environment below `base`, such as `http://env.localhost:8080`. */
export function environmentUrl(base: URL, id: ResourceId): string {
  return `${base.protocol}//${environmentLabel(id)}.${base.host}/`;
}

/** The registry of built images, and how they are named there. */
export interface ImageRegistry {
  /** `host[:port][/path]` */
  address: string;
  /** `nested`: GROUP/REPOSITORY/SERVICE; `flat`: GROUP.REPOSITORY.SERVICE, for registries without nested paths. */
  layout: 'nested' | 'flat';
}

const separators = { nested: '/', flat: '.' } as const;

/**
 * Returns the prefix of the names of a repository's images, and of no other's: names have neither separator. Images of
 * forks' pull requests have a separate prefix.
 */
export function imagePrefix({ address, layout }: ImageRegistry, repository: ResourceId, trusted = true): string {
  const parts = [repository.group, repository.name, ...(trusted ? [] : ['untrusted']), ''];
  return `${address}/${parts.join(separators[layout])}`;
}

/** Returns the path of a service's images in the registry, unique for each repository. */
export function imageRepository(
  registry: ImageRegistry,
  repository: ResourceId,
  service: string,
  trusted = true,
): string {
  return `${imagePrefix(registry, repository, trusted)}${service}`;
}

/** Returns the group of an image by its path below the registry's address; undefined for other images. */
export function groupOfImage({ layout }: Pick<ImageRegistry, 'layout'>, path: string): string | undefined {
  const parts = path.split(separators[layout]);
  return parts.length === 3 || parts.length === 4 ? parts[0] : undefined;
}

/**
 * Returns a stable resource name for an environment of this ref, unique to the ref. A hash is added if the ref's name
 * had to be changed.
 */
export function environmentName(repository: string, ref: GitRef): string {
  const readable = ref.type === 'branch' ? ref.name : `${ref.type === 'tag' ? 'tag' : 'pr'}-${ref.name}`;
  const plain = `${repository}-${readable}`;
  const exact = slug(plain) === plain && plain.length <= environmentNameLimit && ref.type === 'branch';
  if (exact) return plain;
  return hashedName(slug(plain), gitRefKey(ref), environmentNameLimit);
}

/** Returns the name for an environment of this ref if environmentName() is taken by another repository or ref. */
export function environmentNameBeside(repository: string, ref: GitRef): string {
  return hashedName(slug(environmentName(repository, ref)), `${repository}/${gitRefKey(ref)}`, environmentNameLimit);
}
