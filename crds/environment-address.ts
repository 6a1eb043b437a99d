import type { ResourceId } from './ids.ts';
import { hashedName, nameHash, slug } from './names.ts';

/** The longest label that `env-` still fits before, within the 63 characters of a DNS label (RFC 1035). */
const labelLimit = 59;

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
