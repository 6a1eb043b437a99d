import type { RepositorySettingsView } from '../api/types.ts';
import { durationText, parseDuration } from './time.ts';

export type Rule = NonNullable<RepositorySettingsView['sync']['rules']>[number];
export type RuleKind = 'branches' | 'tags' | 'pullRequests';
type Choice = '' | 'only' | 'none';

/** A rule as the fields of its form. */
export interface RuleForm {
  kind: RuleKind;
  /** Patterns with spaces between them, which no pattern contains. */
  patterns: string;
  targetBranches: string;
  exclude: string;
  /** Labels with commas between them. */
  labels: string;
  drafts: Choice;
  forks: Choice;
  author: '' | NonNullable<NonNullable<Rule['pullRequests']>['author']>;
  environment: Rule['environment'];
  /** As parseDuration() reads it; empty for that of the repository. */
  ttl: string;
  /** As parseDuration() reads it, 0 for never; empty for that of the repository. */
  sleepAfter: string;
  /** The other settings of sleep, which the form keeps. */
  sleep: Omit<NonNullable<Rule['sleep']>, 'afterSeconds'>;
}

export const NEW_RULE: RuleForm = {
  ...{ kind: 'branches', patterns: '', targetBranches: '', exclude: '', labels: '', drafts: '', forks: '' },
  author: '',
  ...{ environment: 'built', ttl: '', sleepAfter: '', sleep: {} },
};

const joined = (texts: readonly string[] = [], separator = ' ') => texts.join(separator);
const choiceOf = (value: boolean | undefined): Choice => (value === undefined ? '' : value ? 'only' : 'none');

export function formOf({ branches, tags, pullRequests, exclude, environment, ttlSeconds, sleep = {} }: Rule): RuleForm {
  const { afterSeconds, ...others } = sleep;
  return {
    kind: pullRequests ? 'pullRequests' : tags ? 'tags' : 'branches',
    patterns: joined(branches ?? tags),
    targetBranches: joined(pullRequests?.targetBranches),
    exclude: joined(exclude),
    labels: joined(pullRequests?.labels, ', '),
    drafts: choiceOf(pullRequests?.drafts),
    forks: choiceOf(pullRequests?.forks),
    author: pullRequests?.author ?? '',
    environment,
    ttl: ttlSeconds === undefined ? '' : durationText(ttlSeconds),
    sleepAfter: afterSeconds === undefined ? '' : durationText(afterSeconds),
    sleep: others,
  };
}

/** Returns the rule of a form, or the fault of a field by its name. The API checks the patterns. */
export function ruleOf(form: RuleForm): Rule | { field: keyof RuleForm; fault: string } {
  const { kind, environment } = form;
  const patterns = words(form.patterns);
  if (kind !== 'pullRequests' && patterns.length === 0) return { field: 'patterns', fault: 'must name a pattern' };
  const [ttlSeconds, afterSeconds] = [secondsIn(form.ttl), secondsIn(form.sleepAfter)];
  if (ttlSeconds === 'fault') return { field: 'ttl', fault: 'must be a duration, such as 12h or 7d' };
  if (afterSeconds === 'fault') return { field: 'sleepAfter', fault: 'must be a duration, such as 30m or 4h' };
  const sleep = { ...form.sleep, ...(afterSeconds !== undefined && { afterSeconds }) };
  const exclude = words(form.exclude);
  return {
    ...(kind === 'branches' && { branches: patterns }),
    ...(kind === 'tags' && { tags: patterns }),
    ...(kind === 'pullRequests' && { pullRequests: criteriaOf(form) }),
    ...(exclude.length > 0 && { exclude }),
    environment,
    ...(ttlSeconds !== undefined && { ttlSeconds }),
    ...(Object.keys(sleep).length > 0 && { sleep }),
  };
}

/** Reads a duration; undefined for no text. */
function secondsIn(text: string): number | undefined | 'fault' {
  return text.trim() === '' ? undefined : (parseDuration(text) ?? 'fault');
}

function criteriaOf({ labels, targetBranches, drafts, forks, author }: RuleForm): NonNullable<Rule['pullRequests']> {
  const names = labels
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');
  const targets = words(targetBranches);
  return {
    ...(names.length > 0 && { labels: names }),
    ...(targets.length > 0 && { targetBranches: targets }),
    ...(drafts !== '' && { drafts: drafts === 'only' }),
    ...(forks !== '' && { forks: forks === 'only' }),
    ...(author !== '' && { author }),
  };
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

const given: Readonly<Record<Rule['environment'], string>> = {
  none: 'no environment',
  empty: 'an empty environment',
  created: 'an environment with contents',
  built: 'a built environment',
};

/** Returns a rule in words: what it matches, and what that gets. */
export function ruleText(rule: Rule): { matches: string; gets: string } {
  const { kind, patterns, labels, targetBranches, exclude, ttl } = formOf(rule);
  const { drafts, forks, author } = rule.pullRequests ?? {};
  const criteria = [
    ...(author === undefined ? [] : [`of a ${author}`]),
    ...(labels === '' ? [] : [`with a label of ${labels}`]),
    ...(targetBranches === '' ? [] : [`into ${targetBranches}`]),
    ...(drafts === undefined ? [] : [drafts ? 'that are drafts' : 'that are not drafts']),
    ...(forks === undefined ? [] : [forks ? 'from forks' : 'from the repository']),
    ...(exclude === '' ? [] : [kind === 'pullRequests' ? `except from ${exclude}` : `except ${exclude}`]),
  ];
  const what = { branches: `Branches ${patterns}`, tags: `Tags ${patterns}`, pullRequests: 'Pull requests' }[kind];
  const lifetime = ttl === '' || ttl === '0' ? '' : ` for ${ttl}`;
  return { matches: [what, ...criteria].join(' '), gets: given[rule.environment] + lifetime + sleepText(rule) };
}

function sleepText({ sleep, environment }: Rule): string {
  const { afterSeconds, workingHours } = sleep ?? {};
  if (environment === 'none') return '';
  const texts = [
    ...(afterSeconds === undefined
      ? []
      : [afterSeconds === 0 ? 'never sleeps when idle' : `sleeps after ${durationText(afterSeconds)}`]),
    ...(workingHours ? ['sleeps outside of its working hours'] : []),
  ];
  return texts.length === 0 ? '' : `, ${texts.join(', ')}`;
}
