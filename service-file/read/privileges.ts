import type { SourcePosition, Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { Service } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import type { ReadContext } from './context.ts';
import { type Fields, optional, readListOrOne, readText, readTextList } from './read.ts';
import { readVariables, toRecord } from './variables.ts';

/**
 * The capabilities that the level `baseline` of the Pod Security Standards permits adding; all of them are Docker's
 * defaults.
 */
const allowedCapabilities = new Set(
  `AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT`.split(
    ' ',
  ),
);

/** The sysctls that `baseline` permits, which are namespaced. */
const allowedSysctls = new Set(
  `kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.ip_unprivileged_port_start net.ipv4.tcp_syncookies
  net.ipv4.ping_group_range net.ipv4.ip_local_reserved_ports net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout
  net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes`.split(/\s+/),
);

/** 2³¹ - 1: the largest ID that Kubernetes accepts. */
const maxId = 2_147_483_647;

type Privileges = Pick<Service, 'user' | 'groups' | 'capAdd' | 'capDrop' | 'sysctls'>;

/** Reads the user, groups and privileges of a service's processes. */
export function readPrivileges(fields: Fields, context: ReadContext): Privileges {
  const { problems } = context;
  const user = optional(fields, 'user', readUser, problems);
  return {
    ...(user !== undefined && { user }),
    groups: optional(fields, 'group_add', readGroups, problems) ?? [],
    capAdd:
      optional(fields, 'cap_add', (node) => readCapabilities(node, allowedCapabilities, problems), problems) ?? [],
    capDrop: optional(fields, 'cap_drop', (node) => readCapabilities(node, undefined, problems), problems) ?? [],
    sysctls: optional(fields, 'sysctls', (node) => readSysctls(node, context), problems) ?? {},
  };
}

/** Reads `uid` or `uid:gid`. Names other than root are known only in the image. */
function readUser(node: YamlNode, problems: Problems): Service['user'] | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const [user = '', group = ''] = text.split(':', 2);
  const uid = idOf(user);
  if (uid === undefined) {
    const what = user === '' ? 'it names no user' : `${quoted(user)} is a name, which is known only in the image`;
    problems.warn(node, `ignored: ${what}; the image's own user is used, write a numeric uid for another`);
    return undefined;
  }
  const gid = idOf(group);
  if (gid === undefined && group !== '') {
    problems.warn(
      node,
      `the group ${quoted(group)} is ignored: its number is known only in the image; write a numeric gid`,
    );
  }
  return { uid, ...(gid !== undefined && { gid }) };
}

function readGroups(node: YamlNode, problems: Problems): number[] | undefined {
  const groups = readTextList(node, problems)?.flatMap((text) => {
    const id = idOf(text);
    if (id === undefined) {
      problems.warn(
        node,
        `the group ${quoted(text)} is ignored: its number is known only in the image; write a numeric gid`,
      );
    }
    return id ?? [];
  });
  return groups && [...new Set(groups)].sort((a, b) => a - b);
}

function idOf(text: string): number | undefined {
  if (text === 'root') return 0;
  return /^\d{1,10}$/.test(text) && Number(text) <= maxId ? Number(text) : undefined;
}

/** Reads capabilities without `CAP_`, sorted. `allowed`: undefined permits all. */
function readCapabilities(
  node: YamlNode,
  allowed: ReadonlySet<string> | undefined,
  problems: Problems,
): string[] | undefined {
  const found = new Set<string>();
  for (const item of readListOrOne(node, problems) ?? []) {
    const text = readText(item, problems);
    if (text === undefined) continue;
    const name = text.toUpperCase().replace(/^CAP_/, '');
    if (!/^[A-Z_]{2,40}$/.test(name))
      problems.error(item, `${quoted(text)} is not a capability: write it like NET_BIND_SERVICE`);
    else if (allowed?.has(name) === false) problems.error(item, refusal(name));
    else found.add(name);
  }
  return [...found].sort();
}

function refusal(name: string): string {
  return `refused: ${name} affects more than the container; you can add ${[...allowedCapabilities].join(', ')}`;
}

function readSysctls(node: YamlNode, context: ReadContext): Record<string, string> | undefined {
  const found = readVariables(node, 'container', context);
  if (found === undefined) return undefined;
  const entries: readonly (readonly [string, SourcePosition])[] =
    node.kind === 'map'
      ? node.entries.map(({ key, at }) => [key, at] as const)
      : [...found.keys()].map((key) => [key, node] as const);
  for (const [name, at] of entries) {
    if (allowedSysctls.has(name) || !found.has(name)) continue;
    found.delete(name);
    context.problems.warn(at, `ignored: ${quoted(name)} affects, or may affect, the whole machine`);
  }
  return toRecord(found);
}
