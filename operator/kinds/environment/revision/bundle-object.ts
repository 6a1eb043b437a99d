import type { ConfigMap, Secret } from '../../../../kubernetes/resource-type.ts';
import type { FileBundle } from '../../../../service-file/schema.ts';
import { encodeTexts } from '../../../../kubernetes/secret-texts.ts';
import type { HiddenValues } from '../../../services/objects/hidden-values.ts';
import type { RevisionLocation } from './revision.ts';

/** The files of a bundle as an object that pods can mount. `contents`: base64 by key. */
export function bundleObject(
  { namespace, labels }: Pick<RevisionLocation, 'namespace' | 'labels'>,
  { name, secret }: FileBundle,
  contents: Record<string, string>,
): ConfigMap | Secret {
  const metadata = { name, namespace, labels };
  if (secret) return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', immutable: true, data: contents };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, immutable: true, binaryData: contents };
}

/** The Secret of a service's hidden values. */
export function valuesObject(
  { namespace, labels }: Pick<RevisionLocation, 'namespace' | 'labels'>,
  { secret, variables }: HiddenValues,
): Secret {
  const metadata = { name: secret, namespace, labels };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', immutable: true, data: encodeTexts(variables) };
}
