import { createHash } from 'node:crypto';
import { lastPart } from './kind.ts';
import type { Comment, Hook, HostedRepository, PullRequest, Status } from './repositories.ts';

// Azure DevOps' JSON, by its published types (the interfaces of azure-devops-node-api).

/** The three names in a repository's path. */
export function namesOf({ path }: HostedRepository): { organization: string; project: string; name: string } {
  const [organization = '', project = '', name = ''] = path.split('/');
  return { organization, project, name };
}

/** Returns a project's ID, which follows from its name. */
export function projectId(repository: HostedRepository): string {
  const { organization, project } = namesOf(repository);
  return uuidOf(`${organization}/${project}`);
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

export function apiOf(base: string, repository: HostedRepository): string {
  const { organization } = namesOf(repository);
  return `${base}/${encoded(organization)}/${projectId(repository)}/_apis/git/repositories/${repository.uuid}`;
}

export function webOf(base: string, repository: HostedRepository): string {
  const { organization, project, name } = namesOf(repository);
  return `${base}/${encoded(`${organization}/${project}`)}/_git/${encoded(name)}`;
}

export function identityJson(base: string, displayName: string): object {
  const id = '6f2c1a52-0000-4000-8000-000000000000';
  return { displayName, id, uniqueName: `${displayName}@example.com`, url: `${base}/_apis/Identities/${id}` };
}

export function repositoryJson(base: string, repository: HostedRepository): object {
  const { project, name, organization } = namesOf(repository);
  const id = projectId(repository);
  return {
    id: repository.uuid,
    name,
    url: apiOf(base, repository),
    project: {
      id,
      name: project,
      url: `${base}/${encoded(organization)}/_apis/projects/${id}`,
      state: 'wellFormed',
      revision: 1,
      visibility: repository.isPrivate ? 'private' : 'public',
      lastUpdateTime: repository.createdAt,
    },
    defaultBranch: `refs/heads/${repository.defaultBranch}`,
    size: 0,
    remoteUrl: webOf(base, repository),
    sshUrl: `git@ssh.${new URL(base).hostname}:v3/${encoded(repository.path)}`,
    webUrl: webOf(base, repository),
    isDisabled: false,
    isInMaintenance: false,
    ...(repository.forkOf && { isFork: true }),
  };
}

/** Returns a pull request as in lists: only these have the labels, and no field without labels. */
export function listedPullJson(base: string, repository: HostedRepository, pull: PullRequest): object {
  const labels = pull.labels.map((name) => ({ id: uuidOf(name), name, active: true }));
  return { ...pullJson(base, repository, pull), ...(labels.length > 0 && { labels }) };
}

export function pullJson(base: string, repository: HostedRepository, pull: PullRequest): object {
  const { from } = pull;
  const url = `${apiOf(base, repository)}/pullRequests/${pull.number}`;
  const source = `refs/heads/${pull.branch}`;
  const commit = (id: string) => ({ commitId: id, url: `${apiOf(base, repository)}/commits/${id}` });
  return {
    repository: repositoryJson(base, repository),
    pullRequestId: pull.number,
    codeReviewId: pull.number,
    status: pull.state === 'open' ? 'active' : 'abandoned',
    createdBy: identityJson(base, 'somebody'),
    creationDate: pull.createdAt,
    ...(pull.state === 'closed' && { closedDate: pull.updatedAt }),
    title: pull.title,
    sourceRefName: source,
    targetRefName: `refs/heads/${pull.target}`,
    mergeStatus: 'succeeded',
    isDraft: pull.isDraft,
    mergeId: repository.uuid,
    lastMergeSourceCommit: commit(pull.commit),
    lastMergeTargetCommit: commit(pull.targetCommit),
    reviewers: [],
    url,
    supportsIterations: true,
    ...(from !== repository && {
      forkSource: {
        name: source,
        objectId: pull.commit,
        url: `${apiOf(base, from)}/refs/heads/${pull.branch}`,
        repository: repositoryJson(base, from),
      },
    }),
  };
}

export function statusJson(base: string, status: Status): object {
  // Stored as the host shows it: GENRE/NAME.
  const slash = status.context.indexOf('/');
  const name = status.context.slice(slash + 1);
  return {
    id: status.id,
    state: status.state,
    description: status.description,
    context: { name, ...(slash >= 0 && { genre: status.context.slice(0, slash) }) },
    creationDate: status.createdAt,
    updatedDate: status.createdAt,
    createdBy: identityJson(base, 'token'),
    targetUrl: status.targetUrl,
  };
}

/** Returns the first comment of a thread, which is the only one here. */
export function commentJson(base: string, comment: Comment): object {
  return {
    id: 1,
    parentCommentId: 0,
    author: identityJson(base, 'token'),
    content: comment.body,
    publishedDate: comment.createdAt,
    lastUpdatedDate: comment.updatedAt,
    lastContentUpdatedDate: comment.updatedAt,
    commentType: 'text',
    usersLiked: [],
  };
}

export function threadJson(base: string, comment: Comment): object {
  return {
    id: comment.id,
    publishedDate: comment.createdAt,
    lastUpdatedDate: comment.updatedAt,
    comments: [commentJson(base, comment)],
    status: 'active',
    threadContext: null,
    properties: {},
    identities: null,
    isDeleted: false,
  };
}

/** Returns a subscription as the service hooks API does, without its password. */
export function subscriptionJson(base: string, repository: HostedRepository, hook: Hook): object {
  const { organization } = namesOf(repository);
  const isSecret = (name: string) => name === 'basicAuthPassword' || name === 'httpHeaders';
  const inputs = Object.entries(hook.inputs).map(([name, value]) => [name, isSecret(name) ? '********' : value]);
  return {
    id: hook.uuid,
    url: `${base}/${encoded(organization)}/_apis/hooks/subscriptions/${hook.uuid}`,
    status: 'enabled',
    publisherId: 'tfs',
    eventType: hook.events[0],
    resourceVersion: '1.0',
    eventDescription: `Repository ${lastPart(repository.path)}`,
    consumerId: 'webHooks',
    consumerActionId: 'httpRequest',
    actionDescription: `To host ${new URL(hook.url).host}`,
    createdBy: identityJson(base, 'token'),
    createdDate: hook.createdAt,
    publisherInputs: { projectId: projectId(repository), repository: repository.uuid, branch: '' },
    consumerInputs: Object.fromEntries(inputs) as object,
  };
}

/** Locations of the API's calls, which the official client reads with OPTIONS. */
export const LOCATIONS = {
  Location: [['e81700f7-3be2-46de-8624-2eb35882fcaa', 'ResourceAreas', '_apis/{resource}/{areaId}']],
  git: [
    ['225f7195-f9c7-4d14-ab28-a83f7ff77e1f', 'repositories', '{project}/_apis/{area}/{resource}/{repositoryId}'],
    [
      '9946fd70-0d40-406e-b686-b4744cbbcc37',
      'pullRequests',
      '{project}/_apis/{area}/repositories/{repositoryId}/{resource}/{pullRequestId}',
    ],
    [
      '428dd4fb-fda5-4722-af02-9313b80305da',
      'statuses',
      '{project}/_apis/{area}/repositories/{repositoryId}/commits/{commitId}/{resource}',
    ],
    [
      'ab6e2e5d-a0b7-4153-b64a-a4efe0d49449',
      'threads',
      '{project}/_apis/{area}/repositories/{repositoryId}/pullRequests/{pullRequestId}/{resource}/{threadId}',
    ],
    [
      '965a3ec7-5ed8-455a-bdcb-835a5ea7fe7b',
      'comments',
      '{project}/_apis/{area}/repositories/{repositoryId}/pullRequests/{pullRequestId}/threads/{threadId}/{resource}/{commentId}',
    ],
  ],
} as const;

export function locationsJson(area: keyof typeof LOCATIONS): object {
  const value = LOCATIONS[area].map(([id, resourceName, routeTemplate]) => ({
    id,
    area,
    resourceName,
    routeTemplate,
    resourceVersion: 2,
    minVersion: '1.0',
    maxVersion: '7.2',
    releasedVersion: '7.1',
  }));
  return { count: value.length, value };
}
