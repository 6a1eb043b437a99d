import type { SourcePosition, Problems } from '../problems.ts';
import { quoted, tooMany } from '../problems.ts';
import type { Healthcheck } from '../schema.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { readCommand } from './command.ts';
import { readProbeTimes } from './healthcheck.ts';
import { coppiceKeys, httpHealthcheckKeys, jobKeys, seedKeys } from './keys/x-coppice-keys.ts';
import { isHostLabel } from './names.ts';
import { PORT_RANGE } from './ports.ts';
import { type NamedRoute, readRoutes } from './public-routes.ts';
import { optional, readFields, readInteger, readList, readName, readText } from './read.ts';

/** A command that runs once with a service's image: a job at each build, or a seed for a new volume. */
export interface LocatedJob {
  name: string;
  command: string[];
  /** The volume that a seed fills, by its name in the file. */
  volume?: string;
  at: SourcePosition;
}

/** A service's x-coppice. */
export interface Extension {
  /** Undefined if the file does not say which ports are public. */
  routes?: NamedRoute[];
  healthcheck?: Healthcheck;
  jobs: LocatedJob[];
  watch?: { globs: string[]; at: SourcePosition };
}

/** Reads a service's x-coppice. `ports`: ports of the service, used as default. */
export function readExtension(node: YamlNode, problems: Problems): Extension | undefined {
  const fields = readFields(node, coppiceKeys, problems);
  if (fields === undefined) return undefined;
  const routes = optional(fields, 'public', readRoutes, problems);
  const healthcheck = optional(fields, 'healthcheck', readHttpHealthcheck, problems);
  const seed = optional(fields, 'seed', readSeed, problems);
  const jobs = optional(fields, 'jobs', readJobs, problems) ?? [];
  const watchEntry = fields.get('watch');
  const globs = optional(fields, 'watch', readWatch, problems);
  return {
    ...(routes !== undefined && { routes }),
    ...(healthcheck !== undefined && { healthcheck }),
    jobs: seed === undefined ? jobs : [seed, ...jobs],
    ...(globs !== undefined && watchEntry !== undefined && { watch: { globs, at: watchEntry.at } }),
  };
}

/** Shorter than Docker's defaults, because a request is cheap. */
const requestDefaults = { intervalSeconds: 10, timeoutSeconds: 5, retries: 3, startPeriodSeconds: 0 };

function readHttpHealthcheck(node: YamlNode, problems: Problems): Healthcheck | undefined {
  const fields = readFields(node, httpHealthcheckKeys, problems);
  if (fields === undefined) return undefined;
  const times = readProbeTimes(fields, requestDefaults, problems);
  const path = fields.has('path') ? optional(fields, 'path', readRequestPath, problems) : '/';
  const port = optional(fields, 'port', (value) => readInteger(value, PORT_RANGE, problems), problems);
  if (port === undefined && !fields.has('port')) {
    return problems.error(node, "has no port: name the service's port to request");
  }
  return path === undefined || port === undefined ? undefined : { http: { path, port }, ...times };
}

function readRequestPath(node: YamlNode, problems: Problems): string | undefined {
  const text = readText(node, problems);
  if (text === undefined || /^\/[!-~]{0,1000}$/.test(text)) return text;
  return problems.error(node, `${quoted(text)} is not a path: start it with /, without spaces`);
}

const maxJobs = 20;

function readJobs(node: YamlNode, problems: Problems): LocatedJob[] | undefined {
  const items = readList(node, problems);
  if (items !== undefined && items.length > maxJobs) return problems.error(node, tooMany(maxJobs, 'jobs'));
  return items?.flatMap((item) => {
    const fields = readFields(item, jobKeys, problems);
    if (fields === undefined) return [];
    const name = optional(fields, 'name', readName, problems);
    const command = optional(fields, 'command', readJobCommand, problems);
    if (!fields.has('name') || !fields.has('command')) problems.error(item, 'a job has a name and a command: add both');
    if (name === undefined || command === undefined) return [];
    if (isHostLabel(name)) return [{ name, command, at: item }];
    problems.error(
      item,
      `${quoted(name)} is not a name for a job: use lower-case letters, digits and -, a letter first`,
    );
    return [];
  });
}

/** Reads a seed; its job is called `seed`. */
function readSeed(node: YamlNode, problems: Problems): LocatedJob | undefined {
  const fields = readFields(node, seedKeys, problems);
  if (fields === undefined) return undefined;
  const volume = optional(fields, 'volume', readName, problems);
  const command = optional(fields, 'command', readJobCommand, problems);
  if (!fields.has('volume') || !fields.has('command')) {
    problems.error(node, 'a seed has a volume and a command that fills it: add both');
  }
  return volume === undefined || command === undefined ? undefined : { name: 'seed', command, volume, at: node };
}

function readJobCommand(node: YamlNode, problems: Problems): string[] | undefined {
  const command = readCommand(node, problems);
  return command?.length === 0 ? problems.error(node, 'is empty: write the command') : command;
}

const maxGlobs = 50;
const maxGlobLength = 128;
/** Maximum number of `*` and `**` in a glob: each multiplies the time to match it. */
const maxStars = 4;

/** Reads globs of the repository's files: `libs/**`, `package.json`, `!libs/*.md`. */
function readWatch(node: YamlNode, problems: Problems): string[] | undefined {
  const items = readList(node, problems);
  if (items !== undefined && items.length > maxGlobs) return problems.error(node, tooMany(maxGlobs, 'globs'));
  return items?.flatMap((item) => {
    const text = readName(item, problems);
    if (text === undefined) return [];
    if (text.length > maxGlobLength || (text.match(/\*+/g)?.length ?? 0) > maxStars) {
      problems.error(item, `a glob has at most ${maxGlobLength} characters and ${maxStars} times * or **`);
      return [];
    }
    const [, mark = '', glob = ''] = /^(!?)(.*)$/s.exec(text) ?? [];
    const good = glob !== '' && !/^[/!]|\\|\p{Cc}/u.test(glob) && !glob.split('/').includes('..');
    if (good) return [`${mark}${glob.replace(/^(\.\/)+/, '')}`];
    problems.error(item, `${quoted(text)} is not a glob of the repository's files: write it like libs/**`);
    return [];
  });
}
