import type { BuildLogMessage } from '../../build-logs/message.ts';
import { PUSHED } from '../../operator/images/logs/container-logs.ts';
import type { ContentsMoments } from './contents-watch.ts';
import type { Figure } from './measure.ts';

/** Stages from the request to the first response, in order. */
const stageNames = [
  'namespace',
  'isolation policies',
  'commit and service file',
  'objects',
  'build requested → clone starts',
  'clone',
  'clone → buildctl starts',
  'build',
  'export and push',
  'pushed → seen by the operator',
  'image pull by the node',
  'rollout without the pull',
  'end of the Job after the rollout',
  'Ingress and request',
] as const;

/** Matches buildctl's lines. A service that is not rebuilt has one other line in the stage `build`. */
const byBuildctl = /^#\d+ /;
const imagesReady = /^all images are in the registry/;

/** Duration of each stage in seconds. */
export type Stages = Record<(typeof stageNames)[number], number>;

/** Times that the log does not contain, in Unix milliseconds. */
export interface Asked {
  asked: number;
  moments: ContentsMoments;
  answered: number;
  pulledSeconds: number;
}

/** Returns the stages from the build's log; throws if a line is missing that starts or ends one. */
export function stagesOf(log: readonly BuildLogMessage[], { asked, moments, answered, pulledSeconds }: Asked): Stages {
  const built = buildMarks(log);
  const marks = [asked, moments.namespace, moments.isolated, moments.service, ...built];
  const ended = timeOf(
    log.find((message) => 'end' in message),
    'an end',
  );
  const ready = marks.at(-1) ?? Number.NaN;
  const seconds = [
    ...marks.slice(1).map((mark, index) => (mark - (marks[index] ?? Number.NaN)) / 1000),
    pulledSeconds,
    (moments.rolledOut - ready) / 1000 - pulledSeconds,
    (ended - moments.rolledOut) / 1000,
    (answered - ended) / 1000,
  ];
  return Object.fromEntries(stageNames.map((stage, index) => [stage, seconds[index]])) as Stages;
}

/** When the stages of an image's build start, and the last one ends, in Unix milliseconds. */
function buildMarks(log: readonly BuildLogMessage[]): number[] {
  const clone = reporting(log, 'clone');
  return [
    timeOf(reporting(log, 'coppice')[0], 'a first line'),
    timeOf(clone[0], 'a clone'),
    timeOf(clone.at(-1), 'a clone'),
    timeOf(reporting(log, 'build', byBuildctl)[0], 'a build'),
    timeOf(reporting(log, 'build', /exporting to image/)[0], 'an export'),
    timeOf(reporting(log, 'build', PUSHED).at(-1), 'a push'),
    timeOf(reporting(log, 'coppice', imagesReady)[0], 'images'),
  ];
}

/** Times of a push that the log does not contain, in Unix milliseconds. */
export interface Pushed {
  /** When the delivery was sent, and when it was answered. */
  sent: number;
  taken: number;
  answered: number;
  pulledSeconds: number;
}

const pushStageNames = [
  'delivery answered',
  'refs listed, commit read',
  ...stageNames.slice(
    stageNames.indexOf('build requested → clone starts'),
    stageNames.indexOf('image pull by the node'),
  ),
  'image pull by the node',
  'rollout and request without the pull',
];

/** Returns the stages from a delivery to the page of an environment that runs the commit before. */
export function pushStagesOf(
  log: readonly BuildLogMessage[],
  { sent, taken, answered, pulledSeconds }: Pushed,
): Record<string, number> {
  const marks = [sent, taken, ...buildMarks(log)];
  const ready = marks.at(-1) ?? Number.NaN;
  const seconds = [
    ...marks.slice(1).map((mark, index) => (mark - (marks[index] ?? Number.NaN)) / 1000),
    pulledSeconds,
    (answered - ready) / 1000 - pulledSeconds,
  ];
  return Object.fromEntries(pushStageNames.map((stage, index) => [stage, seconds[index] ?? Number.NaN]));
}

/**
 * Like stagesOf, for a commit whose images are in the registry; its page can respond before the build is reported as
 * finished.
 */
export function shortStagesOf(log: readonly BuildLogMessage[], { asked, moments, answered, pulledSeconds }: Asked) {
  const started = timeOf(reporting(log, 'coppice')[0], 'a first line');
  const found = timeOf(reporting(log, 'coppice', imagesReady)[0], 'images');
  return {
    namespace: (moments.namespace - asked) / 1000,
    'isolation policies': (moments.isolated - moments.namespace) / 1000,
    'commit and service file': (moments.service - moments.isolated) / 1000,
    objects: (started - moments.service) / 1000,
    'image lookup': (found - started) / 1000,
    'image pull by the node': pulledSeconds,
    'rollout without the pull': (moments.rolledOut - found) / 1000 - pulledSeconds,
    'Ingress and request': (answered - moments.rolledOut) / 1000,
  };
}

function reporting(log: readonly BuildLogMessage[], stage: string, words = /^/): BuildLogMessage[] {
  return log.filter((message) => 'line' in message && message.stage === stage && words.test(message.line));
}

function timeOf(message: BuildLogMessage | undefined, what: string): number {
  if (!message) throw new Error(`the log has no line of ${what}`);
  return Date.parse(message.time);
}

/** Parses the kubelet's message "Successfully pulled image "…" in 1.234s (…)"; returns 0 if the image was present. */
export function pullSeconds(message: string): number {
  const [, minutes = '0', number = '0', unit] = /pulled image .* in (?:(\d+)m)?([\d.]+)(ms|s) \(/.exec(message) ?? [];
  return Number(minutes) * 60 + Number(number) / (unit === 'ms' ? 1000 : 1);
}

/** Returns one figure for each stage, with the values of all rounds. */
export function stageFigures<Stage extends string>(
  what: string,
  rounds: readonly Readonly<Record<Stage, number>>[],
): Figure[] {
  return (Object.keys(rounds[0] ?? {}) as Stage[]).map((stage) => ({
    name: `${what}: ${stage}`,
    unit: 's',
    samples: rounds.map((stages) => stages[stage]),
  }));
}
