import type {
  ApiTokenView,
  GroupItem,
  ListedEnvironment,
  ListedRepository,
  MemberView,
  RulesCheckView,
  VariableView,
} from './api/types.ts';
import { age, limitText } from './output/duration.ts';
import type { Shown } from './output/print.ts';

/** The state for people: the contract's four, and what they do not say. */
function shownStatus({ status, asleep, removing, deleting }: ListedEnvironment): string {
  if (removing === true || deleting === true) return 'deleting';
  return asleep === true ? `${status}, asleep` : status;
}

/** The columns of environments. @param now milliseconds since 1970 */
export function shownEnvironments(now: () => number): Shown<ListedEnvironment> {
  return {
    name: ({ id }) => id,
    columns: [
      { title: 'ENVIRONMENT', value: ({ id }) => id },
      {
        title: 'REF',
        value: ({ gitRef }) => (gitRef.type === 'branch' ? gitRef.name : `${gitRef.type} ${gitRef.name}`),
      },
      { title: 'STATUS', value: shownStatus },
      { title: 'HEALTH', value: ({ health }) => health },
      { title: 'SERVICES', value: ({ services: { ready, total } }) => `${ready}/${total}` },
      { title: 'COMMIT', value: ({ commit }) => commit?.slice(0, 8) },
      { title: 'AGE', value: ({ createdAt }) => age(createdAt, now()) },
      { title: 'URL', value: ({ weburl }) => weburl, isWide: true },
      { title: 'BUILD', value: ({ build }) => build && `${build.number ?? ''} ${build.result}`.trim(), isWide: true },
      {
        title: 'EXPIRES',
        value: ({ expiresAt }) => expiresAt && new Date(expiresAt * 1000).toISOString(),
        isWide: true,
      },
      { title: 'PROBLEM', value: ({ problem }) => problem && `${problem.reason}: ${problem.message}`, isWide: true },
    ],
  };
}

export const SHOWN_GROUPS: Shown<GroupItem> = {
  name: ({ id }) => id,
  columns: [
    { title: 'GROUP', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name },
  ],
};

export const SHOWN_REPOSITORIES: Shown<Omit<ListedRepository, 'counts'> & Partial<Pick<ListedRepository, 'counts'>>> = {
  name: ({ id }) => id,
  columns: [
    { title: 'REPOSITORY', value: ({ id }) => id },
    { title: 'TYPE', value: ({ type }) => type },
    { title: 'HEALTH', value: ({ health }) => health },
    { title: 'BUILT', value: ({ counts }) => counts?.status.built },
    { title: 'FAILED', value: ({ counts }) => counts?.health.failed },
    { title: 'URL', value: ({ url }) => url },
    { title: 'PROBLEM', value: ({ problem }) => problem && `${problem.reason}: ${problem.message}`, isWide: true },
  ],
};

export const SHOWN_TOKENS: Shown<ApiTokenView> = {
  name: ({ Name }) => Name,
  columns: [
    { title: 'NAME', value: ({ Name }) => Name },
    { title: 'EXPIRES', value: ({ ExpiresOn }) => ExpiresOn },
    {
      title: 'ACCESS',
      value: ({ ReadOnly, Scopes }) => (ReadOnly === 'true' ? 'read' : (Scopes?.access ?? 'administer')),
    },
    { title: 'GROUPS', value: ({ Scopes }) => Scopes?.groups?.join(',') },
    { title: 'REPOSITORIES', value: ({ Scopes }) => Scopes?.repositories?.join(',') },
  ],
};

export const SHOWN_VARIABLES: Shown<VariableView & { from?: string }> = {
  name: ({ name }) => name,
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'VALUE', value: ({ value, secret, withheld }) => ((secret ?? withheld) ? '(hidden)' : value) },
    { title: 'VISIBILITY', value: ({ visibility }) => visibility },
    { title: 'SET IN', value: ({ from }) => from },
    { title: 'ERROR', value: ({ error }) => error, isWide: true },
  ],
};

/** The columns of variables of one owner, whom the table need not name. */
export const SHOWN_OWN_VARIABLES: typeof SHOWN_VARIABLES = {
  ...SHOWN_VARIABLES,
  columns: SHOWN_VARIABLES.columns.filter(({ title }) => title !== 'SET IN'),
};

export const SHOWN_MEMBERS: Shown<MemberView> = {
  name: ({ id }) => id,
  columns: [
    { title: 'MEMBER', value: ({ id }) => id },
    { title: 'ROLE', value: ({ role }) => role },
  ],
};

export const SHOWN_RULE_REFS: Shown<RulesCheckView['refs'][number]> = {
  name: ({ name }) => name,
  columns: [
    { title: 'REF', value: ({ type, name }) => (type === 'branch' ? name : `${type} ${name}`) },
    { title: 'RULE', value: ({ rule }) => rule },
    { title: 'CREATES', value: ({ environment, id }) => (id === undefined ? environment : 'already has one') },
    {
      title: 'SLEEPS AFTER',
      value: ({ sleepAfterSeconds: seconds }) => (seconds === undefined ? undefined : limitText(seconds)),
      isWide: true,
    },
    { title: 'WHY', value: ({ why }) => why },
    { title: 'ENVIRONMENT', value: ({ id }) => id, isWide: true },
  ],
};
