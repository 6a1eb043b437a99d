import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { customResourceDefinitions } from '../../crds/crd.ts';
import type { Versions } from '../../crds/versions.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';

/** Writes the chart of this checkout with definitions of these versions to a new folder, as a later release contains it. */
export function writeChart(versions: Versions, folder: string): string {
  cpSync(join(REPOSITORY_ROOT, 'charts/coppice'), folder, { recursive: true });
  for (const { plural, definition } of customResourceDefinitions(versions)) {
    const text = stringify(definition, { aliasDuplicateObjects: false });
    writeFileSync(join(folder, 'files/crds', `${plural}.yaml`), text);
  }
  return folder;
}
