/**
 * The rows of the contract's tables, and the statements of its lists and texts, by section, except the internal tester
 * interface, which is not part of the REST API. The types require a case of the contract test for each.
 */

/** Section 2: the fields of each resource. */
export const FIELD_ROWS = [
  'repository: id',
  'repository: gid',
  'repository: name',
  'repository: url',
  'repository: type',
  'repository: size',
  'repository: details',
  'repository: details.url',
  'repository: environments',
  'repository: reusableEnvironments',
  'environment summary: id',
  'environment summary: name',
  'environment summary: gitRef',
  'reusable environment: label',
  'reusable environment: buildAt',
  'reusable environment: from',
  'repository settings: variables',
  'repository settings: sshPublicKey',
  'repository settings: environmentTTL',
  'repository settings: scheduledRebuild.mode',
  'repository settings: scheduledRebuild.hour',
  'repository settings: serviceFile.mode',
  'repository settings: serviceFile.serviceFile',
  'variable: name',
  'variable: value',
  'variable: visibility',
  'environment: id',
  'environment: rid',
  'environment: gitRef',
  'environment: status',
  'environment: weburl',
  'environment: aliases',
  'environment: buildTime',
  'environment: createdAt',
  'environment: builtAt / buildAt',
  'environment: ttl',
  'environment: size',
  'environment: services',
  'group: listing item',
  'group: detail',
  'group: settings',
  'user: email',
  'user: apiTokens',
  'API token: Name',
  'API token: ExpiresOn',
  'API token: ReadOnly',
] as const;

/** Section 3: the environment's states. */
export const STATE_ROWS = [
  'PUT of an empty environment',
  'DELETE where no other shares the Git reference',
  'DELETE where others share the Git reference',
] as const;

/** Section 4: endpoints. */
export const ENDPOINT_ROWS = [
  'GET /api/repository/{repoID}',
  'POST /api/repository/{repoID}',
  'DELETE /api/repository/{repoID}',
  'GET /api/repository/{repoID}/settings',
  'POST /api/repository/{repoID}/settings',
  'POST /api/repository/{repoID}/spawn',
  'POST /api/repository/{repoID}/sync',
  'DELETE /api/repository/{repoID}/reusable/{reusableLabel}',
  'POST /api/repository/{repoID}/variables',
  'DELETE /api/repository/{repoID}/variables/{varName}',
  'PATCH /api/repository/{repoID}/variables',
  'GET /api/environment/{environmentID}',
  'PUT /api/environment/{environmentID}',
  'DELETE /api/environment/{environmentID}',
  'POST /api/environment/{environmentID}/build',
  'POST /api/environment/{environmentID}/rebuild',
  'GET /api/environment/{environmentID}/build/logs',
  'POST /api/environment/{environmentID}/ttl',
  'POST /api/user/login',
  'POST /api/user/logout',
  'POST /api/user/register',
  'GET /api/user/info',
  'POST /api/user/tokens',
  'DELETE /api/user/tokens',
  'GET /api/groups',
  'GET /api/group/{groupID}',
  'POST /api/group/{groupID}',
  'GET /api/group/{groupID}/settings',
  'POST /api/group/{groupID}/variables',
  'DELETE /api/group/{groupID}/variables/{varName}',
  'PATCH /api/group/{groupID}/variables',
  'POST /api/group/{groupID}/leave',
  'POST /api/group/{groupID}/members',
  'DELETE /api/group/{groupID}/members/{memberEmail}',
] as const;

/** Section 4: params by repository type. */
export const TYPE_ROWS = ['generic', 'cloudorg', 'groupedhost', 'workspacehost', 'ownerhost'] as const;

/** Sections 5, 7 and 8. */
export const RULE_ROWS = [
  'authentication: every endpoint needs a token of POST /api/user/login',
  'authentication: by the header X-SERVICE-TOKEN or the cookie token',
  'authentication: the header is checked first',
  'authentication: logout ends the token that was used',
  'authentication: API tokens expire, and may be read-only',
  'error: 400, 401 and 404, with a string in error',
  'constant: build is true by default for spawn, creation and GET',
  'constant: serviceFile.mode is repo by default',
  'constant: ttl and environmentTTL are omitted when zero',
] as const;

export type FieldRow = (typeof FIELD_ROWS)[number];
export type StateRow = (typeof STATE_ROWS)[number];
export type EndpointRow = (typeof ENDPOINT_ROWS)[number];
export type TypeRow = (typeof TYPE_ROWS)[number];
export type RuleRow = (typeof RULE_ROWS)[number];
