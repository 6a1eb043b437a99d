import { slug } from '../../../crds/names.ts';
import { hashOf } from '../../../kubernetes/apply.ts';
import type { WorkloadInput } from './input.ts';

/** Returns `<prefix>-<name>`, with a hash if the name was changed: Compose permits longer names and more characters. */
export function objectName(prefix: string, name: string): string {
  const plain = `${prefix}-${name}`;
  if (slug(name) === name && plain.length <= 63) return plain;
  return `${slug(plain).slice(0, 54)}-${hashOf(name).slice(0, 8)}`;
}

export function objectMeta({ namespace, labels }: Pick<WorkloadInput, 'namespace' | 'labels'>, name: string) {
  return { name, namespace, labels };
}
