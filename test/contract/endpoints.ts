import { environmentCases } from './environment-endpoints.ts';
import { groupCases } from './group-endpoints.ts';
import { repositoryCases } from './repository-endpoints.ts';
import type { EndpointRow } from './rows.ts';
import { userCases } from './user-endpoints.ts';
import type { World } from './world.ts';

/** Section 4, endpoint by endpoint. */
export const endpointCases: Record<EndpointRow, (world: World) => Promise<void>> = {
  ...repositoryCases,
  ...environmentCases,
  ...userCases,
  ...groupCases,
};
