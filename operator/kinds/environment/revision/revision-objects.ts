import { ConfigMap, Secret } from '../../../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../../../kubernetes/secret-texts.ts';
import type { FileContents } from '../../../../service-file/files.ts';
import { storedAt } from '../../../../service-file/stored-file.ts';
import type { HiddenValues } from '../../../services/objects/hidden-values.ts';
import type { RevisionLocation, StoredRevision } from './revision.ts';

type Owner = Pick<RevisionLocation, 'namespace' | 'labels'>;

/** An object with mounted files. */
export interface FileObject {
  name: string;
  secret: boolean;
}

/** Returns the objects that store the revision's files, each once. */
export function fileObjects({ serviceFile }: Pick<StoredRevision, 'serviceFile'>): FileObject[] {
  const objects = serviceFile.bundles.flatMap((bundle) =>
    bundle.files.map((file) => ({ name: storedAt(bundle, file).object, secret: bundle.secret })),
  );
  return [...new Map(objects.map((one) => [one.name, one])).values()];
}

/** Returns the hidden values of the revision's services. */
export function hiddenValuesOf({ hidden = {} }: Pick<StoredRevision, 'hidden'>): HiddenValues[] {
  return Object.values(hidden);
}

/** Returns the type of object that stores files. */
export function typeOf({ secret }: Pick<FileObject, 'secret'>): typeof Secret | typeof ConfigMap {
  return secret ? Secret : ConfigMap;
}

/** Returns files as an object that pods can mount. `contents`: bytes by key. */
export function fileObject(
  { namespace, labels }: Owner,
  { name, secret }: FileObject,
  contents: ReadonlyMap<string, Buffer>,
): ConfigMap | Secret {
  const metadata = { name, namespace, labels };
  const data = Object.fromEntries([...contents].map(([key, bytes]) => [key, bytes.toString('base64')]));
  if (secret) return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', immutable: true, data };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, immutable: true, binaryData: data };
}

/** Returns the Secret of a service's hidden values. */
export function valuesObject({ namespace, labels }: Owner, { secret, variables }: HiddenValues): Secret {
  const metadata = { name: secret, namespace, labels };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', immutable: true, data: encodeTexts(variables) };
}

/** Returns the texts of the revision's secret files, which are masked in logs. */
export function secretTexts({ serviceFile }: Pick<StoredRevision, 'serviceFile'>, contents: FileContents): string[] {
  return serviceFile.bundles
    .filter(({ secret }) => secret)
    .flatMap((bundle) =>
      bundle.files.flatMap((file) => {
        const { object, key } = storedAt(bundle, file);
        return contents.get(object)?.get(key)?.toString('utf8') ?? [];
      }),
    );
}
