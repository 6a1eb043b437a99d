import { environmentCases } from './environment-endpoints.ts';
import { groupCases } from './group-endpoints.ts';
import { repositoryCases } from './repository-endpoints.ts';
import type { EndpointRow } from './rows.ts';
import { userCases } from './user-endpoints.ts';
import type { World } from './world.ts';

/** Cases of section 4, one for each endpoint. */
export const endpointCases: Record<EndpointRow, (world: World) => Promise<void>> = {
  ...repositoryCases,
  ...environmentCases,
  ...userCases,
  ...groupCases,
};
