import type { ResourceType } from './resource-type.ts';

export interface PathSegments {
  namespace?: string | undefined;
  name?: string | undefined;
  subresource?: 'status' | 'log' | 'exec' | 'portforward' | undefined;
}

/**
 * Returns the path of a collection or of one object. Without a namespace, a namespaced type's path is its collection
 * over all namespaces, and a name is not permitted.
 */
export function resourcePath(type: ResourceType, { namespace, name, subresource }: PathSegments = {}): string {
  if (type.namespaced && name !== undefined && !namespace) {
    throw new TypeError(`${type.kind} ${name} needs a namespace`);
  }
  if (name === '') throw new TypeError(`a ${type.kind}'s name is empty`);
  const root = type.group === '' ? ['api', type.version] : ['apis', type.group, type.version];
  const scope = type.namespaced && namespace ? ['namespaces', namespace] : [];
  const parts = [...root, ...scope, type.plural, ...(name === undefined ? [] : [name])];
  return `/${[...parts, ...(subresource ? [subresource] : [])].map(encodeURIComponent).join('/')}`;
}
