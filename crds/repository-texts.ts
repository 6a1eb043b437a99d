import type { Repository } from './repository.ts';

/**
 * Annotation that client-side `kubectl apply` writes with the whole manifest. Its presence shows who applies the
 * object.
 */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Transforms a Repository for an informer: removes the service file of its settings, up to 128 Ki characters, which
 * only builds need and read from the API server.
 */
export function withoutTexts(repository: Repository): Repository {
  const { metadata, spec } = repository;
  const { annotations } = metadata;
  const { content, ...serviceFile } = spec.serviceFile ?? {};
  if (content === undefined && annotations?.[lastApplied] === undefined) return repository;
  return {
    ...repository,
    metadata: annotations?.[lastApplied]
      ? { ...metadata, annotations: { ...annotations, [lastApplied]: '' } }
      : metadata,
    spec: { ...spec, ...(spec.serviceFile && { serviceFile: { mode: 'repo', ...serviceFile } }) },
  };
}
