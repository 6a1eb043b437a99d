import { buildKeys } from './build-keys.ts';
import { deployKeys, deployResourcesKeys, limitsKeys, reservationsKeys, restartPolicyKeys } from './deploy-keys.ts';
import type { KeyTable } from './key-table.ts';
import { bindKeys, mountKeys, tmpfsKeys, volumeOptionKeys } from './mount-keys.ts';
import {
  dependencyKeys,
  envFileKeys,
  extendsKeys,
  grantKeys,
  healthcheckKeys,
  portKeys,
  serviceKeys,
  serviceNetworkKeys,
} from './service-keys.ts';
import { configKeys, includeKeys, networkKeys, secretKeys, topLevelKeys, volumeKeys } from './top-level-keys.ts';
import {
  coppiceFileKeys,
  coppiceKeys,
  coppiceVolumeKeys,
  httpHealthcheckKeys,
  jobKeys,
  publicKeys,
  seedKeys,
  testKeys,
} from './x-coppice-keys.ts';

/** Every table, in the order of docs/reference/service-file.md. */
export const ALL_KEY_TABLES: readonly KeyTable[] = [
  topLevelKeys,
  includeKeys,
  serviceKeys,
  buildKeys,
  dependencyKeys,
  envFileKeys,
  extendsKeys,
  healthcheckKeys,
  portKeys,
  mountKeys,
  bindKeys,
  volumeOptionKeys,
  tmpfsKeys,
  serviceNetworkKeys,
  grantKeys,
  deployKeys,
  deployResourcesKeys,
  limitsKeys,
  reservationsKeys,
  restartPolicyKeys,
  networkKeys,
  volumeKeys,
  configKeys,
  secretKeys,
  coppiceFileKeys,
  testKeys,
  coppiceKeys,
  publicKeys,
  httpHealthcheckKeys,
  jobKeys,
  seedKeys,
  coppiceVolumeKeys,
];
