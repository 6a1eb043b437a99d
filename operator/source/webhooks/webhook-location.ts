import { repositorySpecSchema, type Repository } from '../../../crds/repository.ts';

type Webhook = NonNullable<NonNullable<Repository['status']>['webhook']>;
export type WebhookLocation = NonNullable<Webhook['location']>;

/** Fields of a source that configure the access, not the location. */
const accessFields = ['credentialsSecret', 'knownHosts'];
/** Fields that identify the host. If they differ, it is another host, which must not receive these credentials. */
const hostFields = ['type', 'instanceUrl', 'orgUrl'];

/** Returns the location of a Repository's webhook: its type, and the fields of its source that locate it. */
export function webhookLocation({ spec }: Repository): WebhookLocation {
  const source = Object.entries(spec[spec.type] ?? {}).filter(([field]) => !accessFields.includes(field));
  return { type: spec.type, ...Object.fromEntries(source) };
}

export function isSameLocation(one: WebhookLocation, other: WebhookLocation): boolean {
  return [...Object.keys(one), ...Object.keys(other)].every((field) => one[field] === other[field]);
}

/** Returns the Repository as if it were at this location, with its current credentials; undefined for another host. */
export function repositoryAt(repository: Repository, location: WebhookLocation): Repository | undefined {
  const { spec } = repository;
  const now = webhookLocation(repository);
  if (!hostFields.every((field) => location[field] === now[field])) return undefined;
  const source = Object.fromEntries(Object.entries(location).filter(([field]) => field !== 'type'));
  const there = repositorySpecSchema.safeParse({ ...spec, [spec.type]: { ...spec[spec.type], ...source } });
  return there.success ? { ...repository, spec: there.data } : undefined;
}
