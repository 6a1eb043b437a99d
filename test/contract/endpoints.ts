import { ENVIRONMENT_CASES } from './environment-endpoints.ts';
import { GROUP_CASES } from './group-endpoints.ts';
import { REPOSITORY_CASES } from './repository-endpoints.ts';
import type { EndpointRow } from './rows.ts';
import { USER_CASES } from './user-endpoints.ts';
import type { World } from './world.ts';

/** Cases of section 4, one for each endpoint. */
export const ENDPOINT_CASES: Record<EndpointRow, (world: World) => Promise<void>> = {
  ...REPOSITORY_CASES,
  ...ENVIRONMENT_CASES,
  ...USER_CASES,
  ...GROUP_CASES,
};
