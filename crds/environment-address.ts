import type { ResourceId } from './ids.ts';
import { hashedName, nameHash, slug } from './names.ts';

/** Maximum length of a label with which `env-` fits into the 63 characters of a DNS label (RFC 1035). */
const labelLimit = 59;

/**
 * Returns the label in an environment's host and namespace: `<name>--<group>`, which is unique to the ID. If it would
 * be ambiguous, reserved (RFC 5891 reserves `??--`) or too long, returns a shortened form with a hash, which never
 * contains `--` and so never equals the first form.
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
 * Returns the host of an environment's alias, one label below `domain` like every host, so that one wildcard
 * certificate covers all. It never equals another environment's host or alias: after the separator it has the
 * environment's label or, if the host would be too long, invalid or reserved (RFC 5891 reserves `??--`), a hash, which
 * no label equals because labels contain a `-`.
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
