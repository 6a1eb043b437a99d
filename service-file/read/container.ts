import { constants } from 'node:os';
import { posix } from 'node:path';
import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { Service } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { isHostLabel } from './names.ts';
import { type Fields, optional, readBoolean, readName, readText } from './read.ts';
import { readSeconds } from './seconds.ts';

type Container = Pick<
  Service,
  'hostname' | 'workingDir' | 'init' | 'tty' | 'stdin' | 'stopSignal' | 'stopGracePeriodSeconds' | 'readOnly'
>;

/** Reads how a service's container is set up, except for its process and mounts. */
export function readContainer(fields: Fields, problems: Problems): Container {
  const flag = (key: string): boolean => optional(fields, key, readBoolean, problems) ?? false;
  const hostname = optional(fields, 'hostname', readHostname, problems);
  const workingDir = optional(fields, 'working_dir', readWorkingDir, problems);
  const stopSignal = optional(fields, 'stop_signal', readSignal, problems);
  const init = flag('init');
  const stopEntry = fields.get('stop_signal');
  if (init && stopSignal !== undefined && stopSignal !== 'SIGTERM' && stopEntry !== undefined) {
    problems.warn(stopEntry.at, 'ignored with init: true, whose process receives SIGTERM: remove one of them');
  }
  return {
    ...(hostname !== undefined && { hostname }),
    ...(workingDir !== undefined && { workingDir }),
    init,
    tty: flag('tty'),
    stdin: flag('stdin_open'),
    ...(stopSignal !== undefined && { stopSignal }),
    stopGracePeriodSeconds:
      optional(fields, 'stop_grace_period', (node) => readSeconds(node, { max: 3600 }, problems), problems) ?? 10,
    readOnly: flag('read_only'),
  };
}

/** Reads the container's host name: only its first label, because Kubernetes accepts no more. */
function readHostname(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems)?.toLowerCase();
  if (text === undefined) return undefined;
  const [label = ''] = text.split('.');
  if (!isLabel(label)) {
    problems.warn(node, 'ignored: a host name has letters, digits and - only');
    return undefined;
  }
  if (label !== text) problems.warn(node, `only ${quoted(label)} of it is used: the cluster determines the domain`);
  return label;
}

function isLabel(text: string): boolean {
  return isHostLabel(text, 63) || /^[0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}

function readWorkingDir(node: YamlNode, problems: Problems): string | undefined {
  const text = readName(node, problems);
  if (text === undefined) return undefined;
  if (text.startsWith('/')) return posix.normalize(text);
  return problems.error(node, `${quoted(text)} is not absolute: start it with /`);
}

/** Normalizes `SIGINT`, `INT` and `2` to `SIGINT`. */
function readSignal(node: YamlNode, problems: Problems): string | undefined {
  const text = readText(node, problems);
  if (text === undefined) return undefined;
  const name = `SIG${text.toUpperCase().replace(/^SIG/, '')}`;
  for (const [signal, number] of Object.entries(constants.signals)) {
    if (signal === name || String(number) === text) return signal;
  }
  return problems.error(node, `${quoted(text)} is not a signal: write it like SIGTERM`);
}
