import { slug } from '../../../crds/names.ts';
import { hashOf } from '../../../kubernetes/apply.ts';
import type { WorkloadInput } from './input.ts';

/** `<prefix>-<name>`, with a hash where the name had to be changed: Compose's names may be longer and hold more. */
export function objectName(prefix: string, name: string): string {
  const plain = `${prefix}-${name}`;
  if (slug(name) === name && plain.length <= 63) return plain;
  return `${slug(plain).slice(0, 54)}-${hashOf(name).slice(0, 8)}`;
}

export function objectMeta({ namespace, labels }: WorkloadInput, name: string) {
  return { name, namespace, labels };
}
